"""How values of a clip are written on screen: always plain, always on one line, never surprising.

File names and tags come from anywhere. Line breaks, control characters and marks that turn the
direction of writing are shown escaped, bytes that are not text as a replacement sign, and nothing
is ever read as rich text.
"""

from __future__ import annotations

import datetime
import html
import os
import unicodedata
from typing import Any

from foley_desktop.models import Clip, Hit, IndexReport, Progress

NOT_TEXT = "�"
_ESCAPED = {"\n": "⏎", "\r": "⏎", "\t": " "}
_DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

RANKER_NAMES = {
    "audio": "sound",
    "keyword": "words",
    "semantic": "meaning",
    "meaning": "meaning",
    "likeness": "likeness",
}

LONG_S = 15.0
"""Beyond this length a clip has moments: one of them fits the search best, and the clip opens there."""


def shown(text: str, limit: int = 1000) -> str:
    """``text`` safe for one line of plain text, at most ``limit`` characters long."""
    if text.isascii() and text.isprintable() and len(text) <= limit:
        return text
    cut = text[: limit + 1]
    clean = "".join(map(_shown_character, cut))
    return clean if len(text) <= limit else clean[:limit] + "…"


def _shown_character(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if "\ud800" <= character <= "\udfff":
        return NOT_TEXT
    if character in _DIRECTION_MARKS or unicodedata.category(character) == "Cc":
        return f"\\u{ord(character):04x}"
    return character


def plain_tooltip(text: str) -> str:
    """``text`` for a tooltip: Qt guesses whether a tooltip is rich text, so markup is escaped."""
    clean = "\n".join(shown(line) for line in text.split("\n"))
    return f"<qt><p style='white-space:pre-wrap'>{html.escape(clean)}</p></qt>" if clean else ""


def duration(seconds: float | None) -> str:
    """``0:03.2``, ``12:05.0``, ``1:00:00``; a dash when unknown."""
    if seconds is None:
        return "–"
    tenths = round(seconds * 10)
    if tenths == 0 and seconds > 0:
        return f"{seconds * 1000:.0f} ms"
    minutes, rest = divmod(tenths, 600)
    if minutes >= 60:
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02d}:{rest // 10:02d}"
    return f"{minutes}:{rest / 10:04.1f}"


def clock(seconds: float) -> str:
    """A position with milliseconds: ``0:03.250``."""
    millis = max(0, round(seconds * 1000))
    minutes, rest = divmod(millis, 60_000)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest / 1000:06.3f}"
    return f"{minutes}:{rest / 1000:06.3f}"


def rate(hertz: int | None) -> str:
    """In kHz: ``48``, ``44.1``, ``22.05``; a dash when unknown."""
    return "–" if not hertz else f"{hertz / 1000:g}"


def count(number: int) -> str:
    """A whole number with thin thousands marks: ``12,345``."""
    return f"{number:,}"


def number(value: int | None) -> str:
    """A whole number, or a dash when unknown."""
    return "–" if value is None else str(value)


def plural(number: int, one: str, many: str = "") -> str:
    """``1 clip``, ``2,000 clips``."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def category(clip: Clip) -> str:
    """``DOORS / WOOD`` or what there is of it."""
    parts = [part for part in (clip.category, clip.subcategory) if part]
    return shown(" / ".join(parts))


def description(clip: Clip) -> str:
    """The most telling words someone wrote about the clip."""
    return shown(clip.description or clip.title or clip.keywords)


def folder(clip: Clip) -> str:
    """The clip's folder below its root; the root's own top is a dot."""
    return shown(os.path.dirname(clip.rel_path) or ".")


def file_name(clip: Clip) -> str:
    """The file's name on disk with its extension."""
    return shown(os.path.basename(clip.rel_path or clip.path) or clip.name)


def used(clip: Clip) -> str:
    """When a clip was last handed over, and how often: ``today``, ``3× 2026-01-31``; empty for never."""
    if clip.used_s is None:
        return ""
    times = f"{clip.uses}× " if clip.uses > 1 else ""
    return times + day(clip.used_s)


def used_tip(clip: Clip) -> str:
    """The same as a sentence."""
    if clip.used_s is None:
        return "Never dragged, exported or sent from here"
    often = "Used once" if clip.uses == 1 else f"Used {clip.uses} times, last"
    return f"{often}: {datetime.datetime.fromtimestamp(clip.used_s):%Y-%m-%d %H:%M}"


def day(at_s: float, now: datetime.date | None = None) -> str:
    """The day of a Unix time: ``today``, ``yesterday``, else ``2026-01-31``."""
    then = datetime.date.fromtimestamp(at_s)
    ago = ((now or datetime.date.today()) - then).days
    return {0: "today", 1: "yesterday"}.get(ago, then.isoformat())


def hour(at_s: float) -> str:
    """The time of day of a Unix time: ``14:05``."""
    return f"{datetime.datetime.fromtimestamp(at_s):%H:%M}"


def best_score(hit: Hit | None) -> float | None:
    """The one number that ordered the hit, whatever the mode; None where none did, as by ``-rain`` alone."""
    if hit is None:
        return None
    for score in (hit.rrf_score, hit.clap_score, hit.bm25_score):
        if score is not None:
            return float(score) or None
    scores = [part.get("score") for part in hit.why.values() if isinstance(part, dict)]
    numbers = [float(score) for score in scores if isinstance(score, int | float)]
    return numbers[0] if len(numbers) == 1 else None


def score(hit: Hit | None) -> str:
    """The best score as it stands in the table."""
    value = best_score(hit)
    return "" if value is None else f"{value:.3f}"


def shares(hit: Hit | None) -> dict[str, float]:
    """How much each ranker gave to the hit, as fractions of 1; empty when unknown."""
    if hit is None:
        return {}
    found: dict[str, float] = {}
    for name, part in hit.why.items():
        value: Any = part.get("share") if isinstance(part, dict) else None
        if isinstance(value, int | float) and value > 0:
            found[name] = float(value)
    total = sum(found.values())
    return {name: value / total for name, value in found.items()} if total > 0 else {}


def why(hit: Hit | None) -> str:
    """Why the hit is where it is, a line a ranker."""
    if hit is None:
        return ""
    lines = [f"Rank {hit.rank}"]
    fractions = shares(hit)
    for name, part in hit.why.items():
        if not isinstance(part, dict) or part.get("rank") is None:
            continue
        line = f"{RANKER_NAMES.get(name, name)}: rank {part['rank']}"
        if isinstance(part.get("score"), int | float):
            line += f", score {part['score']:.3f}"
        if name in fractions:
            line += f", {fractions[name]:.0%} of the total"
        lines.append(line)
    matched = hit.why.get("matched")
    if isinstance(matched, dict):
        lines += [f"“{word}” in {', '.join(fields)}" for word, fields in matched.items() if fields]
    if hit.start_s is not None and hit.end_s is not None:
        lines.append(f"best moment: {clock(hit.start_s)} – {clock(hit.end_s)}")
    if hit.clap_score is not None:
        lines.append(f"sound similarity {hit.clap_score:.3f}")
    return "\n".join(lines)


def moment_s(hit: Hit | None) -> float | None:
    """Where in a long clip to listen, in seconds; None where there is no such place."""
    if hit is None or hit.start_s is None or (hit.sound.duration_s or 0.0) <= LONG_S:
        return None
    return float(hit.start_s)


def moment(hit: Hit | None) -> str:
    """The place to listen at as it stands in the table; empty where there is none."""
    seconds = moment_s(hit)
    return "" if seconds is None else duration(seconds)


def progress(step: Progress | None) -> str:
    """``120 of 737 · 45/s · 14 s left``."""
    if step is None:
        return "waiting"
    parts = [f"{count(step.done)} of {count(step.total)}" if step.total else count(step.done)]
    if step.rate:
        parts.append(f"{step.rate:.0f}/s" if step.rate >= 10 else f"{step.rate:.1f}/s")
    if step.remaining_s is not None and step.done < step.total:
        parts.append(f"{remaining(step.remaining_s)} left")
    return " · ".join(parts)


def remaining(seconds: float) -> str:
    """A rough stretch of time: ``8 s``, ``3 min``, ``1 h 20 min``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def index_summary(report: IndexReport) -> str:
    """One sentence on what an index run did."""
    parts = [f"{plural(report.added, 'sound')} added"] if report.added else []
    if report.updated:
        parts.append(f"{count(report.updated)} updated")
    if report.missing:
        parts.append(f"{count(report.missing)} missing")
    sentence = ", ".join(parts) or f"Nothing new, {plural(report.unchanged, 'sound')} unchanged"
    if report.rejected:
        sentence += f". {plural(len(report.rejected), 'file')} could not be used"
    return sentence + "."
