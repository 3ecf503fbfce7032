"""Runs the library's long jobs to their end, as the worker threads do."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from foley_desktop.models import Progress


def run(job: Generator[Progress, None, Any]) -> Any:
    """A job's result."""
    return run_with_steps(job)[0]


def run_with_steps(job: Generator[Progress, None, Any]) -> tuple[Any, list[Progress]]:
    """A job's result, and its steps."""
    steps = []
    while True:
        try:
            steps.append(next(job))
        except StopIteration as end:
            return end.value, steps
