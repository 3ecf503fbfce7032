"""The FoleyError family: a sentence a user can read, a hint what to do, the technical cause.

Every error that may reach a person is one of these. ``str(error)`` is the sentence alone, so that a
command line or a toast can show it as it is; ``details()`` is what a "copy details" button copies.
"""

from __future__ import annotations

import traceback


class FoleyError(Exception):
    """A failure that can be explained to a user.

    Args:
        sentence: One sentence that says what went wrong, in the user's words.
        hint: What the user can do about it; empty when there is nothing to do.
        cause: The technical exception behind it, if any.
    """

    def __init__(self, sentence: str, *, hint: str = "", cause: BaseException | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint
        if cause is not None:
            self.__cause__ = cause

    def details(self) -> str:
        """The sentence, the hint and the technical trace, as text to copy into a report."""
        lines = [self.sentence]
        if self.hint:
            lines.append(self.hint)
        lines.append("")
        lines.extend(traceback.format_exception(self))
        return "\n".join(lines).rstrip() + "\n"


class AudioFileError(FoleyError):
    """A file that cannot be used as audio.

    ``reason`` is one code of a closed list: ``empty``, ``not_audio``, ``unsupported_codec``,
    ``corrupt_header``, ``no_permission``, ``vanished``, ``still_being_written``.
    """

    def __init__(
        self, reason: str, sentence: str, *, hint: str = "", cause: BaseException | None = None
    ) -> None:
        super().__init__(sentence, hint=hint, cause=cause)
        self.reason = reason


class PlaybackError(FoleyError):
    """No sound can be played: no PortAudio, no device, or the device refused."""


class RecordingError(FoleyError):
    """Nothing can be recorded: no PortAudio, no input device, or the device refused."""


class RenderError(FoleyError):
    """A new audio file could not be written."""


class TransferError(FoleyError):
    """Files could not be handed to an editor: it is not set up, cannot be started or does not answer."""


class CatalogError(FoleyError):
    """The catalog (SQLite) could not be opened, read or written."""


class LibraryBusyError(FoleyError):
    """Another process is writing to this library."""


class UnknownClipError(FoleyError):
    """An id or path that names no clip of the library."""


class IndexStoreError(FoleyError):
    """A derived index (vectors or keywords) is missing, locked or damaged; it can be rebuilt."""


class ModelError(FoleyError):
    """An embedder could not be loaded or its process died."""


class DownloadError(FoleyError):
    """A file could not be fetched: the server refused, the connection or the room ended, or it is another."""


class SilentAudioError(FoleyError):
    """Silence, an empty clip or nothing but bad samples: there is no sound to embed."""


class GoldenSetError(FoleyError):
    """A golden set, a baseline or a TREC file that cannot be read."""


class FilterError(FoleyError):
    """A ``--where`` expression that is not understood."""


class TagWriteError(FoleyError):
    """Tags could not be written into a file, which is as it was before.

    ``reason`` is one code of a closed list: ``locked``, ``read_only``, ``in_use``, ``no_space``,
    ``unsupported``, ``damaged``, ``changed``, ``vanished``, ``failed``.
    """

    def __init__(
        self, reason: str, sentence: str, *, hint: str = "", cause: BaseException | None = None
    ) -> None:
        super().__init__(sentence, hint=hint, cause=cause)
        self.reason = reason


class LockedError(FoleyError):
    """The folder is locked: its owner has not allowed changes to the files in it."""


class RenameError(FoleyError):
    """Files could not be renamed, or a rename could not be taken back."""


class ImportListError(FoleyError):
    """A list of another librarian that cannot be read or does not fit."""


class DeliveryError(FoleyError):
    """Copies could not be delivered; what was begun has been taken away again."""
