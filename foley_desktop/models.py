"""The frozen dataclasses that every layer speaks: clips, tags, filters, hits, regions, progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Mode = Literal["hybrid", "keyword", "semantic", "audio"]
MODES: tuple[Mode, ...] = ("hybrid", "keyword", "semantic", "audio")


@dataclass(frozen=True, slots=True)
class Tag:
    """One value that someone wrote about a clip, and where it stood.

    ``field`` is lower case (``title``, ``description``, ``keywords``, ``category``, ``originator``,
    ``date``, ``time_reference`` …); ``source`` names the container (``bext``, ``iXML``, ``INFO``,
    ``ID3``, ``Vorbis``, ``AIFF`` …), the file beside it (``sidecar``), its name (``UCS name``), an imported
    list (``list``), or the user: ``edit`` for a field's value, ``user`` for tags of their own.
    """

    field: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Clip:
    """One sound file of the library as the catalog knows it.

    ``path`` is absolute and may hold surrogate escapes for bytes that are not text. ``status`` is
    ``ok``, ``missing`` (gone from an online root) or ``offline`` (its root is not there); a file
    that was refused has status ``rejected``, an empty ``id`` and a ``reason`` code. ``duration_s``
    is in seconds, ``frames`` counts samples per channel. ``uses`` counts how often it was handed over, the
    last time at ``used_s``, a Unix time.
    """

    id: str
    path: str
    root_id: int
    rel_path: str
    name: str
    status: str = "ok"
    reason: str | None = None
    badges: tuple[str, ...] = ()
    duration_s: float | None = None
    frames: int | None = None
    samplerate: int | None = None
    channels: int | None = None
    bit_depth: int | None = None
    format: str = ""
    subtype: str = ""
    title: str = ""
    description: str = ""
    keywords: str = ""
    category: str = ""
    subcategory: str = ""
    catid: str = ""
    rating: int = 0
    favourite: bool = False
    size_bytes: int = 0
    mtime_s: float = 0.0
    added_s: float = 0.0
    audio_hash: str = ""
    silent: bool = False
    uses: int = 0
    used_s: float | None = None


@dataclass(frozen=True, slots=True)
class Root:
    """A folder the user added. ``searchable`` is the switch that leaves it out of searches.

    While it is ``locked``, as every folder is at first, no file in it is renamed, written to or thrown away.
    """

    id: int
    path: str
    name: str
    online: bool = True
    searchable: bool = True
    clip_count: int = 0
    rejected_count: int = 0
    locked: bool = True


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a clip in seconds, ``0 <= start_s < end_s``."""

    start_s: float
    end_s: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.start_s < self.end_s:
            raise ValueError(f"not a region: {self.start_s} to {self.end_s} s")

    @property
    def duration_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True)
class Marker:
    """A point of a clip, or a stretch of it where ``end_s`` is given, in seconds from its start.

    ``source`` is ``file`` for one that stands in the sound file, ``user`` for one of the user's own.
    """

    start_s: float
    end_s: float | None = None
    text: str = ""
    source: str = "user"


Comparison = Literal["<", "<=", "=", "!=", ">=", ">"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a filter: ``duration < 5`` is ``Condition("duration", "<", 5.0)``."""

    field: str
    op: Comparison
    value: str | float | bool

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, float):
            value = f"{value:g}"
        return f"{self.field}{self.op}{value}"


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all have to hold. Empty filters let everything pass.

    Fields: ``folder`` (path prefix below a root, or a root's path), ``category``, ``subcategory``,
    ``catid``, ``duration`` (s), ``rate`` (Hz), ``channels``, ``depth`` (bit), ``rating``,
    ``favourite``, ``collection`` (name), ``date`` (ISO day, by file time), ``format``, ``badge``,
    ``used`` (whether it was ever handed over, or an ISO day to compare the last time with), ``project`` (for
    which it was).
    """

    conditions: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.conditions)


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: the clip, its place, and the scores that put it there.

    ``start_s``/``end_s`` mark the best window, or are None where no sound vector spoke.
    ``rrf_score`` is the fused score whatever the fusion, ``clap_score`` the cosine in the active
    sound space, ``bm25_score`` BM25; each is None where it does not apply. ``why`` holds, by ranker
    name, ``{"rank": int, "score": float, "share": float}``, and ``"matched"`` words.
    """

    sound: Clip
    rank: int
    rrf_score: float | None = None
    clap_score: float | None = None
    bm25_score: float | None = None
    start_s: float | None = None
    end_s: float | None = None
    why: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.sound.id


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search gives back, best hit first.

    ``notices`` are sentences for the user (``words only: the sound model is still loading``).
    ``answerable`` estimates between 0 and 1 whether the library holds an answer at all.
    ``complete`` is False when a ranker that the mode asks for could not take part yet.
    ``hidden_by_sound`` counts the clips that would stand among these hits if they did not sound like what
    the query excludes; where hidden clips are shown on demand, those among the hits.
    """

    query: str
    mode: Mode
    hits: tuple[Hit, ...]
    took_ms: float = 0.0
    answerable: float = 1.0
    notices: tuple[str, ...] = ()
    complete: bool = True
    hidden_by_sound: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a long job. ``rate`` is items per second, ``remaining_s`` None while unknown.

    ``share`` is how much of all is done, 0 to 1, where that is known more finely than by whole items.
    """

    done: int
    total: int
    what: str = ""
    rate: float | None = None
    remaining_s: float | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A file that was not taken, with a reason code of :class:`foley_desktop.errors.AudioFileError`."""

    path: str
    reason: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run over folders did. Counts are clips; ``missing`` counts those newly gone."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    missing: int = 0
    rejected: tuple[Rejection, ...] = ()
    seconds: float = 0.0
    notices: tuple[str, ...] = ()
