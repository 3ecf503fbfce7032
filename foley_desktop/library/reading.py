"""Reads files for the catalog: one decode, one look at the tags, several files at a time.

Nothing here writes anywhere. Results come in the order asked for, so that what they lead to does not
depend on which thread was faster.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from foley_desktop.audio.decode import probe
from foley_desktop.audio.markers import read_markers
from foley_desktop.audio.tags import read_tags
from foley_desktop.errors import AudioFileError
from foley_desktop.library import ucs
from foley_desktop.library.catalog_files import UCS_NAME, FileState, Reading
from foley_desktop.library.effective import effective
from foley_desktop.library.scan import current_state
from foley_desktop.library.sidecars import read_sidecars
from foley_desktop.library.text import split_words
from foley_desktop.models import Tag

log = logging.getLogger(__name__)

_WORKERS = min(4, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What reading one file came to: a reading, or a reason code and a sentence.

    ``state`` is the file's as it was read, which may be newer than what a scan saw.
    """

    state: FileState
    reading: Reading | None = None
    reason: str = ""
    sentence: str = ""


def read_file(path: str, seen: FileState) -> Outcome:
    """Decodes a file once and reads its tags. Never raises, never writes.

    Args:
        path: Absolute path.
        seen: Its state at the scan, for a file that is gone since.
    """
    before = current_state(path)
    if before is None:
        return Outcome(seen, reason="vanished", sentence="The file is no longer there.")
    try:
        reading = _read(path)
    except AudioFileError as error:
        return Outcome(before, reason=error.reason, sentence=error.sentence)
    except Exception as error:
        # A codec may fail in ways nobody foresaw; that costs this file, not the rest.
        log.warning("cannot read %r: %s", path, error)
        return Outcome(before, reason="corrupt_header", sentence="The file cannot be read as audio.")
    if current_state(path) != before:
        sentence = "The file is still being written; it is taken up at the next run."
        return Outcome(before, reason="still_being_written", sentence=sentence)
    return Outcome(before, reading)


def _read(path: str) -> Reading:
    probed = probe(path)
    info = probed.info
    beside, sidecar = read_sidecars(path)
    tags = (*read_tags(path), *beside, *name_tags(os.path.basename(path)))
    return Reading(
        audio_hash=probed.audio_hash,
        duration_s=info.duration_s,
        frames=info.frames,
        samplerate=info.samplerate,
        channels=info.channels,
        bit_depth=info.bit_depth,
        format=info.format,
        subtype=info.subtype,
        badges=tuple(probed.badges),
        silent=probed.silent,
        tags=tags,
        sidecar=sidecar,
        markers=read_markers(path, info.samplerate, info.frames),
        **effective(tags),
    )


def name_tags(file_name: str) -> Iterator[Tag]:
    """What a UCS file name says, as tags; nothing of any other name."""
    name = ucs.parse_name(os.path.splitext(file_name)[0])
    if name is None:
        return
    values = {
        "title": " ".join(split_words(name.fx_name)),
        "category": name.category,
        "subcategory": name.subcategory,
        "catid": name.catid,
        "user_category": name.user_category,
        "vendor_category": name.vendor_category,
        "creator": name.creator,
        "source_id": name.source,
        "user_data": name.user_data,
    }
    for field, value in values.items():
        if value:
            yield Tag(field, value, UCS_NAME)


class Reader:
    """Reads ahead in a few threads. A context manager; leaving it drops what nobody waits for."""

    def __init__(self, workers: int = _WORKERS) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="foley-read")
        self._ahead = 4 * workers

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def read(self, files: Iterable[tuple[str, FileState]]) -> Iterator[Outcome]:
        """An outcome for each ``(path, state)``, in that order."""
        running: deque[Future[Outcome]] = deque()
        for path, seen in files:
            running.append(self._pool.submit(read_file, path, seen))
            if len(running) >= self._ahead:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
