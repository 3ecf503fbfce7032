"""Reading files again that could not be used before."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, IndexReport, Progress
from foley_desktop.workers.job import Job


def retry_job(service: LibraryService, clips: Sequence[Clip]) -> Job:
    """Looks at the folders of some files again, and reads these even if they have not changed.

    Its result is an IndexReport of those folders.
    """

    def work() -> Generator[Progress, None, IndexReport]:
        service.shelf.forget_rejections(clips)
        wanted = {clip.root_id for clip in clips}
        folders = [root.path for root in service.roots() if root.id in wanted]
        return (yield from service.index(folders))

    count = len(clips)
    return Job(f"Trying {clips[0].name if count == 1 else f'{count:,} files'} again", work, kind="index")
