"""The technical side of a selection in words: lines of label and value, and sentences about what is amiss."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from foley_desktop.models import Clip, Root
from foley_desktop.ui import badges, text
from foley_desktop.workers.edit_jobs import Facts, Inspection

_STATUS = {
    "missing": "The file is not where it was. A rescan finds it if it was moved.",
    "offline": "Its folder is not there now: connect the drive and rescan.",
}
_CHANNELS = {1: "mono", 2: "stereo"}


class Warning(NamedTuple):
    """Something to know about the files: a few words, and a sentence."""

    words: str
    sentence: str


def headline(inspection: Inspection) -> tuple[str, str]:
    """The name of what is inspected, and one line about it."""
    facts, clip = inspection.facts, inspection.clip
    parts = [
        _counted(facts.formats, lambda form: form.split()[0]),
        _counted(facts.rates, lambda rate: f"{text.rate(rate)} kHz"),
        _counted(facts.depths, lambda bits: f"{bits} bit"),
        _counted(facts.channels, lambda n: _CHANNELS.get(n, f"{n} ch")),
    ]
    line = " · ".join(part for part in parts if part)
    if clip is not None:
        length = text.duration(clip.duration_s) if clip.duration_s is not None else ""
        return text.file_name(clip), " · ".join(part for part in (line, length) if part)
    whole = f"{text.duration(facts.length_s)} in all · {size(facts.size_bytes)}"
    return text.plural(facts.clips, "sound"), whole


def lines(inspection: Inspection) -> list[tuple[str, str]]:
    """Label and value of everything technical."""
    facts, clip = inspection.facts, inspection.clip
    found = [
        ("Format", _counted(facts.formats, str)),
        ("Sample rate", _counted(facts.rates, lambda rate: f"{text.count(rate)} Hz")),
        ("Depth", _counted(facts.depths, lambda bits: f"{bits} bit")),
        ("Channels", _counted(facts.channels, lambda n: f"{n} ({_CHANNELS.get(n, 'multichannel')})")),
        ("Length", _length(facts, clip)),
    ]
    if facts.stated_s is not None:
        found.append(("Header says", f"{text.clock(facts.stated_s)}, which is wrong"))
    found.append(("Size", size(facts.size_bytes)))
    if clip is not None:
        found += [
            ("Changed", _when(clip.mtime_s)),
            ("Added", _when(clip.added_s)),
            ("Path", text.shown(clip.path)),
        ]
    found.append(("Folder", ", ".join(_root(root) for root in facts.roots)))
    return [(label, value) for label, value in found if value]


def warnings(inspection: Inspection) -> list[Warning]:
    """What is amiss with the files: damage, missing ones, and why a file was rejected."""
    facts = inspection.facts
    found = []
    if facts.sentence:
        found.append(Warning("cannot be used", facts.sentence))
    for status, count in facts.statuses.items():
        if status in _STATUS:
            found.append(Warning(_times(status, count, facts.clips), _STATUS[status]))
    for badge, count in facts.badges.most_common():
        found.append(Warning(_times(badges.words(badge), count, facts.clips), badges.meaning(badge)))
    return found


def size(count: int) -> str:
    """``1.4 MB`` and the like, in powers of ten as file managers have it."""
    value, unit = float(count), "bytes"
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{count} bytes" if unit == "bytes" else f"{value:.1f} {unit}"


def _times(words: str, count: int, clips: int) -> str:
    return words if clips == 1 else f"{words} ({text.count(count)})"


def _length(facts: Facts, clip: Clip | None) -> str:
    if clip is None:
        return f"{text.duration(facts.length_s)} in all"
    if clip.duration_s is None:
        return ""
    frames = f" · {text.plural(clip.frames, 'sample')}" if clip.frames is not None else ""
    return f"{text.clock(clip.duration_s)}{frames}"


def _root(root: Root) -> str:
    state = "" if root.online else ", not there now"
    return f"{text.shown(root.name)} ({'locked' if root.locked else 'unlocked'}{state})"


def _when(seconds: float) -> str:
    """A moment in local time; an absurd one as it is."""
    if not seconds:
        return ""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.0f} s after 1970"


def _counted(values: Counter[Any], show: Callable[[Any], str], most: int = 3) -> str:
    """``WAV``, or ``WAV (12), FLAC (3) and 2 more``."""
    if len(values) == 1:
        return show(next(iter(values)))
    merged: Counter[str] = Counter()
    for value, count in values.items():
        merged[show(value)] += count
    if len(merged) == 1:
        return next(iter(merged))
    shown = ", ".join(f"{words} ({text.count(count)})" for words, count in merged.most_common(most))
    return shown + (f" and {len(merged) - most} more" if len(merged) > most else "")
