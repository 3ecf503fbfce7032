"""Filters typed in the search box: ``rain duration<5`` becomes the word and a chip.

An expression counts once it is finished, by a blank behind it or by Enter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from foley_desktop.errors import FilterError
from foley_desktop.library.filters import FIELDS, parse_where
from foley_desktop.models import Condition

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

_ALSO = ("length", "favorite", "samplerate", "bits")
_NAMES = "|".join((*FIELDS, *_ALSO))
_EXPRESSION = re.compile(rf'(?<!\S)((?:{_NAMES})(?:<=|>=|!=|==|=|<|>)(?:"[^"]*"|[^\s"]+))(?=(\s|\Z))', re.I)


def taken_out(query: str, *, finished: bool) -> tuple[str, tuple[Condition, ...], FilterError | None]:
    """A query without the filters in it, the filters, and what is wrong with one that is not understood.

    Args:
        finished: Also an expression at the very end counts; else only one with a blank behind it.
    """
    conditions: list[Condition] = []
    wrong: list[FilterError] = []

    def take(match: re.Match[str]) -> str:
        if not finished and not match[2]:
            return match[0]
        try:
            conditions.extend(parse_where([match[1]]).conditions)
        except FilterError as error:
            wrong.append(error)
            return match[0]
        return ""

    rest = _EXPRESSION.sub(take, query)
    if conditions:
        rest = " ".join(rest.split()) + (" " if query[-1:].isspace() and rest.strip() else "")
    return rest, tuple(conditions), wrong[0] if wrong else None


class TypedFilters(QObject):
    """Part of the window: watches the search box."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        # Not at once: whoever else hears of the typing is to hear the old words first, then the new ones.
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(lambda: self._take(finished=False))
        window.search_bar.typed.connect(self._on_typed)
        window.search_bar.submitted.connect(lambda: self._take(finished=True))

    def _on_typed(self, query: str) -> None:
        if any(sign in query for sign in "<>=") and query[-1:].isspace():
            self._soon.start()

    def _take(self, *, finished: bool) -> None:
        bar = self._window.search_bar
        rest, conditions, wrong = taken_out(bar.box.text(), finished=finished)
        if wrong is not None and finished:
            self._window.messages.fail(wrong)
        if conditions:
            bar.chips.add(*conditions)
            bar.set_query(rest)
