"""Which clip a file is: ids follow content to a new path when the old path is gone.

A file at a known path is that clip, whatever is in it now. A file at a new path is a known clip if its
audio is that of a clip whose own file is gone from a folder that is there; otherwise it is new.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from foley_desktop.library.catalog import Catalog, KnownFile, Reading
from foley_desktop.library.comparing import Plan, Task, is_empty
from foley_desktop.library.scan import volume_of


class Identities:
    """Finds the former self of files at new paths, over all folders of one run."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._claimed: set[str] = set()
        self._gone: dict[str, list[tuple[KnownFile, str]]] = {}
        self._whole: list[int] = []
        self._there: dict[str, bool] = {}

    def learn(self, plans: Sequence[Plan]) -> None:
        """Takes in what is gone, and finds files that were moved and not touched otherwise."""
        self._whole = [plan.scope.root.id for plan in plans if plan.online and not plan.scope.prefix]
        by_inode: dict[tuple[int, ...], KnownFile] = {}
        for plan in plans:
            for clip in plan.gone:
                self._gone.setdefault(clip.audio_hash, []).append((clip, plan.path(clip)))
                by_inode.setdefault(tuple(clip.state), clip)
        for plan in plans:
            for task in plan.tasks:
                if not task.to_read or task.clip_id is not None or task.former:
                    continue
                # A folder's move leaves its files' inodes and all their times: the very same file.
                same = by_inode.pop(tuple(task.state), None)
                if same is not None:
                    task.moved = same
                    self._claimed.add(same.id)

    def claim(self, plan: Plan, task: Task, reading: Reading) -> str | None:
        """The id of the clip that a file at a new path is, or None for a new one.

        Of several candidates the same file (by inode) wins, then the same name, then the oldest.
        """
        for clip in task.former:
            if clip.audio_hash == reading.audio_hash and clip.id not in self._claimed:
                return self._take(clip.id)
        candidates = [
            (clip.state.inode != task.state.inode, _name(clip.rel_path) != _name(task.rel_path), n, clip.id)
            for n, clip in enumerate(self._candidates(reading.audio_hash))
        ]
        if candidates:
            return self._take(min(candidates)[-1])
        for clip in task.former:
            if clip.id not in self._claimed:
                return self._take(clip.id)
        return None

    def _take(self, clip_id: str) -> str:
        self._claimed.add(clip_id)
        return clip_id

    def _candidates(self, audio_hash: str) -> Iterable[KnownFile]:
        for clip, path in self._gone.get(audio_hash, ()):
            if clip.id not in self._claimed and not os.path.lexists(path):
                yield clip
        for root_id, clip, path, root_path in self._catalog.perhaps_gone(audio_hash, self._whole):
            if clip.id in self._claimed or not self._is_there(root_path):
                continue
            if not os.path.lexists(path) or (
                clip.status == "missing" and self._catalog.is_present(root_id, clip.rel_path)
            ):
                yield clip

    def _is_there(self, root_path: str) -> bool:
        if root_path not in self._there:
            self._there[root_path] = volume_of(root_path) is not None and not is_empty(root_path)
        return self._there[root_path]


def _name(rel_path: bytes) -> bytes:
    return rel_path.rpartition(b"/")[2]
