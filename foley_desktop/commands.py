"""What each command of the command line does: calls the library, prints text or JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from foley_desktop.errors import FoleyError, UnknownClipError
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Progress, SearchResult
from foley_desktop.settings import DataFolder

if TYPE_CHECKING:
    from foley_desktop.audio.reader import AudioInfo

Result = TypeVar("Result")


class Context:
    """One run of one command: its arguments, its library, and its way of speaking."""

    def __init__(self, arguments: argparse.Namespace, library: Path | None) -> None:
        self.arguments = arguments
        self._data = DataFolder(library.absolute()) if library else DataFolder.default()
        self._service: LibraryService | None = None

    @property
    def service(self) -> LibraryService:
        """The library, opened at first use."""
        if self._service is None:
            self._service = LibraryService(self._data)
        return self._service

    def say(self, text: str) -> None:
        """A line for the person at the terminal; silent in JSON mode."""
        if not self.arguments.json:
            print(_printable(text))

    def note(self, text: str) -> None:
        """A line on stderr."""
        print(_printable(text), file=sys.stderr)

    def answer(self, document: Any) -> None:
        """The JSON document, when one was asked for."""
        if self.arguments.json:
            print(json.dumps(document, ensure_ascii=True, allow_nan=False))

    def fail(self, error: FoleyError) -> None:
        """The sentence and the hint of a failure."""
        self.note(f"foley-desktop: {error.sentence}{' ' + error.hint if error.hint else ''}")
        self.answer({"error": error.sentence, "hint": error.hint})

    def follow(self, job: Generator[Progress, None, Result]) -> Result:
        """Runs a job to its end, showing progress on stderr about once a second."""
        shown = time.monotonic()
        while True:
            try:
                progress = next(job)
            except StopIteration as stop:
                return stop.value
            now = time.monotonic()
            if now - shown >= 1.0:
                shown = now
                rest = "" if progress.remaining_s is None else f", about {progress.remaining_s:.0f} s left"
                count = f" {progress.done}/{progress.total}" if progress.total else ""
                self.note(f"{progress.what}{count}{rest}")

    def close(self) -> None:
        if self._service is not None:
            self._service.close()


def _printable(text: str) -> str:
    """Text that any terminal can take: undecodable bytes and line breaks are shown escaped."""
    clean = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    encoding = sys.stdout.encoding or "utf-8"
    return clean.encode(encoding, "backslashreplace").decode(encoding)


def _models(context: Context) -> int:
    action = getattr(context.arguments, "action", None)
    if action == "add":
        name = context.follow(context.service.embedders.adding(context.arguments.file))
        context.note(f"{name} can be used now: foley-desktop models use {name}")
    elif action == "use":
        context.service.use_embedder(context.arguments.name)
    document = context.service.models_document()
    widest = max(len(model["state"]) for model in document["models"])
    for model in document["models"]:
        mark = {document["active"]: "*", document["next"]: "+"}.get(model["name"], " ")
        context.say(
            f"{mark} {model['name']:10} {model['state']:{widest}} {model['description']} {model['note']}"
        )
    if document["next"]:
        context.say(f"The next indexing makes the vectors of {document['next']}, which then takes over.")
    context.answer(document)
    return 0


def _index(context: Context) -> int:
    arguments = context.arguments
    report = context.follow(
        context.service.index(arguments.folders, audio=not arguments.no_audio, embedder=arguments.embedder)
    )
    for notice in report.notices:
        context.note(notice)
    for rejection in report.rejected:
        context.say(f"rejected: {rejection.path}: {rejection.sentence or rejection.reason}")
    context.say(
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, "
        f"{report.missing} missing, {len(report.rejected)} rejected in {report.seconds:.1f} s"
    )
    context.answer(
        {
            "added": report.added,
            "updated": report.updated,
            "unchanged": report.unchanged,
            "missing": report.missing,
            "rejected": [{"path": r.path, "reason": r.reason} for r in report.rejected],
            "seconds": round(report.seconds, 3),
        }
    )
    return 0


def _answer_hits(context: Context, result: SearchResult) -> int:
    for notice in result.notices:
        context.note(notice)
    for hit in result.hits:
        score = hit.rrf_score if hit.rrf_score is not None else hit.clap_score
        moment = f" @{hit.start_s:.1f}s" if hit.start_s else ""
        context.say(f"{hit.rank:3}  {score or 0.0:.4f}  {hit.sound.name}{moment}  [{hit.sound.rel_path}]")
    if not result.hits:
        context.say("Nothing found.")
    context.answer(
        {
            "query": result.query,
            "mode": result.mode,
            "took_ms": round(result.took_ms, 2),
            "hits": [
                {
                    "rank": hit.rank,
                    "id": hit.id,
                    "path": hit.sound.path,
                    "name": hit.sound.name,
                    "start_s": hit.start_s,
                    "end_s": hit.end_s,
                    "rrf_score": hit.rrf_score,
                    "clap_score": hit.clap_score,
                    "bm25_score": hit.bm25_score,
                    "why": hit.why,
                }
                for hit in result.hits
            ],
            "answerable": result.answerable,
            "hidden_by_sound": result.hidden_by_sound,
        }
    )
    return 0


def _search(context: Context) -> int:
    from foley_desktop.library.filters import parse_where

    arguments = context.arguments
    result = context.service.search(
        arguments.query,
        k=arguments.k,
        mode=arguments.mode,
        filters=parse_where(arguments.where),
        show_hidden=arguments.show_hidden,
        balance=arguments.balance,
    )
    if result.hidden_by_sound and not arguments.show_hidden:
        context.note(f"{result.hidden_by_sound} hidden by sound; --show-hidden shows them.")
    return _answer_hits(context, result)


def _similar(context: Context) -> int:
    from foley_desktop.library.examples import Example
    from foley_desktop.library.filters import parse_where

    arguments = context.arguments
    service, filters = context.service, parse_where(arguments.where)
    first = Example(arguments.ref, service.region(arguments.ref, arguments.start, arguments.end))
    like, unlike = [first, *arguments.like], arguments.unlike
    if arguments.words is None:
        result = service.likeness.similar_to(like, unlike, k=arguments.k, filters=filters)
    else:
        result = service.likeness.with_words(
            like, arguments.words, arguments.strength, minus=unlike, k=arguments.k, filters=filters
        )
    return _answer_hits(context, result)


def _evaluate(context: Context) -> int:
    from foley_desktop.eval.compare import check_comparable, load_baseline, save_baseline
    from foley_desktop.eval.golden import load_golden
    from foley_desktop.library.embedder_compare import evaluate_with
    from foley_desktop.library.evaluation import conditions, hold_against

    arguments, service = context.arguments, context.service
    embedder = arguments.embedder or service.settings.embedder
    golden = load_golden(Path(arguments.golden))
    baseline = load_baseline(Path(arguments.baseline)) if arguments.baseline else None
    if baseline is not None:
        # Refused here it costs nobody the minutes of a measurement.
        meta = service.measurement_conditions(embedder)
        check_comparable(baseline, conditions(golden, arguments.mode, arguments.k, meta))
    job = evaluate_with(service, golden, embedder, mode=arguments.mode, k=arguments.k)
    evaluation = context.follow(job)
    passed = True
    if baseline is not None:
        outcome = hold_against(evaluation, baseline)
        for note in outcome.notes:
            context.note(note)
        passed = outcome.passed
        for line in outcome.text.splitlines():
            (context.note if arguments.json else context.say)(line)
    if arguments.trec:
        evaluation.write_trec(Path(arguments.trec))
    if arguments.save:
        save_baseline(Path(arguments.save), evaluation.baseline_document())
    for metric, value in evaluation.report.mean.items():
        context.say(f"{metric:12} {value:.4f}")
    context.say(
        f"{len(evaluation.report.per_query)} queries, {len(evaluation.unanswerable)} without an answer"
    )
    for clip in evaluation.unknown_clips:
        context.note(f"not in the library: {clip}")
    context.answer(
        {
            "mode": evaluation.mode,
            "report": evaluation.report.to_dict(),
            "unanswerable": evaluation.unanswerable,
            "unknown_clips": evaluation.unknown_clips,
        }
    )
    if not passed:
        context.note("foley-desktop: The search has become worse than the baseline allows.")
        return 1
    return 0


def _show(context: Context) -> int:
    clip = context.service.clip(context.arguments.ref)
    tags = context.service.tags(clip)
    document = {
        "id": clip.id or None,
        "path": clip.path,
        "name": clip.name,
        "status": clip.status,
        "reason": clip.reason,
        "badges": list(clip.badges),
        "duration_s": clip.duration_s,
        "frames": clip.frames,
        "samplerate": clip.samplerate,
        "channels": clip.channels,
        "bit_depth": clip.bit_depth,
        "format": clip.format,
        "subtype": clip.subtype,
        "title": clip.title,
        "description": clip.description,
        "category": clip.category,
        "subcategory": clip.subcategory,
        "catid": clip.catid,
        "rating": clip.rating,
        "favourite": clip.favourite,
        "silent": clip.silent,
        "tags": [{"field": t.field, "value": t.value, "source": t.source} for t in tags],
    }
    for key, value in document.items():
        if key != "tags":
            context.say(f"{key:12} {value}")
    for tag in tags:
        context.say(f"  {tag.field} = {tag.value}  ({tag.source})")
    context.answer(document)
    return 0


def _depth_bits(depth: str | None) -> int | None:
    """The depth as the renderer has it: its 32 bits are floats, unless the source has 32-bit integers."""
    return None if depth is None else 32 if depth == "float" else int(depth)


def _export(context: Context) -> int:
    from foley_desktop.audio.render import RenderOptions

    a = context.arguments
    options = RenderOptions(
        start_s=a.start,
        end_s=a.end,
        rate=a.rate,
        depth=_depth_bits(a.depth),
        channels=a.channels,
        normalise_db=a.normalise,
        speed=a.speed,
        reverse=a.reverse,
    )
    target = Path(os.path.abspath(a.out))
    info = context.service.export(a.ref, target, options)
    notices = [] if a.depth else _losses(context.service, a.ref, info)
    for notice in notices:
        context.note(notice)
    context.say(f"{target}: {info.frames} frames, {info.samplerate} Hz, {info.channels} channels")
    context.answer(
        {
            "path": str(target),
            "frames": info.frames,
            "samplerate": info.samplerate,
            "channels": info.channels,
            "format": info.format,
            "subtype": info.subtype,
            "notices": notices,
        }
    )
    return 0


def _losses(service: LibraryService, ref: str, written: AudioInfo) -> list[str]:
    """What the format of an export could not keep of its source although nobody asked for less."""
    from foley_desktop.audio.decode import open_audio
    from foley_desktop.audio.losses import losses

    try:
        path = service.clip(ref).path
    except UnknownClipError:
        path = os.path.abspath(ref)
    with open_audio(path) as source:
        sentence = losses(source.info, written)
    return [sentence] if sentence else []


def _doctor(context: Context) -> int:
    report = context.follow(context.service.doctor(rebuild=context.arguments.rebuild))
    for line in report.repaired:
        context.say(f"repaired: {line}")
    for line in report.warnings:
        context.say(f"warning: {line}")
    context.say("All is well." if report.ok else "The library is not well.")
    context.answer({"ok": report.ok, "repaired": list(report.repaired), "warnings": list(report.warnings)})
    return 0 if report.ok else 1


COMMANDS = {
    "models": _models,
    "index": _index,
    "search": _search,
    "similar": _similar,
    "evaluate": _evaluate,
    "show": _show,
    "export": _export,
    "doctor": _doctor,
}
