"""Names of files that are made for a drag or an export: a template with fields in braces, filled from a clip.

A field that has nothing to say leaves no gap behind: separators beside it go with it.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping

from foley_desktop.audio.naming import NAME_BYTES, clock_name, cut_name, plain_name
from foley_desktop.library import ucs
from foley_desktop.models import Clip, Region

DEFAULT = "{name}_{start}-{end}"

FIELDS: Mapping[str, str] = {
    "name": "the file's own name",
    "start": "start of the region",
    "end": "end of the region",
    "length": "length of the region or the sound",
    "catid": "UCS CatID",
    "category": "UCS category",
    "subcategory": "UCS subcategory",
    "fxname": "effect's name in a UCS name, else the title or the name",
    "title": "title",
    "description": "description",
    "date": "today, 2026-01-31",
    "time": "now, 14.05.09",
    "project": "current project",
    "rate": "sample rate, 48k",
    "channels": "number of channels",
}
"""Every field, and what it stands for."""

_FIELD = re.compile(r"\{([^{}]*)\}")
_SEPARATORS = "_- .,+"
_NOTHING = "\0"


def flaw(template: str) -> str:
    """What is wrong with a template, as a sentence; empty for a good one."""
    if not template.strip():
        return "A naming template cannot be empty."
    if len(template) > 300:
        return "The naming template is too long."
    unknown = [name for name in _FIELD.findall(template) if name not in FIELDS]
    if unknown:
        return f"There is no field {{{unknown[0]}}}; fields: {', '.join(FIELDS)}."
    if "{" in _FIELD.sub("", template) or "}" in _FIELD.sub("", template):
        return "A brace in the naming template has no partner."
    if any(sign in template for sign in "/\\"):
        return "A name cannot hold slashes: choose the folder instead."
    if not _FIELD.search(template):
        return "The naming template has no field such as {name}: every file would be called alike."
    return ""


def stem(
    template: str,
    clip: Clip,
    region: Region | None = None,
    *,
    project: str = "",
    now: datetime.datetime | None = None,
    room: int = NAME_BYTES - 16,
) -> str:
    """The name, without extension, of a new file.

    It is tame for every file system and at most ``room`` bytes of UTF-8 long. Where it would be longer, the
    longest of the filled-in texts is cut, so that times and numbers stay.
    """
    facts = _facts(clip, region, project, now or datetime.datetime.now())
    texts = {name: plain_name(value) if value else "" for name, value in facts.items()}
    filled = _fill(template, texts)
    while len(filled.encode()) > room:
        used = {name: texts[name] for name in _FIELD.findall(template) if texts.get(name)}
        longest = max(used, key=lambda name: len(used[name].encode()), default="")
        size = len(texts[longest].encode()) if longest else 0
        excess = len(filled.encode()) - room
        if size <= 8:
            return cut_name(filled, room) or "clip"
        texts[longest] = cut_name(texts[longest], max(8, size - excess))
        filled = _fill(template, texts)
    return filled


def _fill(template: str, texts: Mapping[str, str]) -> str:
    """Puts texts in; a separator between a missing field and its neighbour goes."""
    marked = _FIELD.sub(lambda match: texts.get(match[1]) or _NOTHING, template)
    kept = re.escape(_SEPARATORS)
    marked = re.sub(f"[{kept}]*{_NOTHING}(?:[{kept}]*{_NOTHING})*", _NOTHING, marked)
    marked = re.sub(f"^{_NOTHING}[{kept}]*", "", marked).replace(_NOTHING, "")
    return plain_name(marked.strip(" ")).rstrip(" .")


def _facts(clip: Clip, region: Region | None, project: str, now: datetime.datetime) -> dict[str, str]:
    own = os.path.splitext(clip.name)[0]
    parsed = ucs.parse_name(own)
    length_s = region.duration_s if region else clip.duration_s
    return {
        "name": own,
        "start": clock_name(region.start_s) if region else "",
        "end": clock_name(region.end_s) if region else "",
        "length": clock_name(length_s) if length_s is not None else "",
        "catid": clip.catid,
        "category": clip.category,
        "subcategory": clip.subcategory,
        "fxname": (parsed.fx_name if parsed else "") or clip.title or own,
        "title": clip.title,
        "description": clip.description,
        "date": now.strftime("%Y-%m-%d"),
        "time": now.strftime("%H.%M.%S"),
        "project": project,
        "rate": f"{clip.samplerate / 1000:g}k" if clip.samplerate else "",
        "channels": str(clip.channels) if clip.channels else "",
    }
