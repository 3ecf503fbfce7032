"""What a file may be called, and renaming that never covers another file.

Rules of Windows and macOS hold on every system: a library moves between them. Lengths are counted in bytes,
as file systems do, and a name is cut between characters.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import unicodedata

LONGEST_BYTES = 255
FORBIDDEN = '<>:"/\\|?*'
"""Characters that Windows takes in no name; control characters come on top."""

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Overrides of the writing direction, which make a name look like another one."""

_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in "0123456789¹²³"), *(f"lpt{n}" for n in "0123456789¹²³")]
)
_RENAME_NOREPLACE = 1  # linux/fs.h
_RENAME_EXCL = 4  # sys/stdio.h of macOS
_AT_FDCWD = -100 if sys.platform.startswith("linux") else -2


def flaws(name: str) -> list[str]:
    """Why a name (with extension) is not to be given, as sentences; empty for a good one."""
    found = []
    bad = sorted({c for c in name if c in FORBIDDEN or ord(c) < 32 or 127 <= ord(c) < 160 or c in _TURNING})
    if bad:
        shown = " ".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in bad)
        found.append(f"The name holds characters that not every system takes: {shown}")
    if any("\ud800" <= c <= "\udfff" for c in name):
        found.append("The name holds bytes that are no text.")
    if name.partition(".")[0].rstrip(" ").lower() in _RESERVED:
        found.append("Windows reserves this name for a device.")
    if name != name.rstrip(" .") or name.startswith(" "):
        found.append("The name begins or ends with a blank, or ends with a dot.")
    if not name.strip(" ."):
        found.append("The name is empty.")
    if name.startswith("."):
        found.append("A name that begins with a dot is hidden.")
    size = len(os.fsencode(name))
    if size > LONGEST_BYTES:
        found.append(f"The name is {size} bytes long; {LONGEST_BYTES} is the most.")
    return found


def tame(text: str) -> str:
    """``text`` without what :func:`flaws` objects to in the middle of a name; blanks are single ones."""
    plain = os.fsencode(text).decode("utf-8", "replace")
    plain = "".join(c for c in plain if c not in _TURNING)
    kept = "".join(" " if c in FORBIDDEN or ord(c) < 32 or 127 <= ord(c) < 160 else c for c in plain)
    return " ".join(unicodedata.normalize("NFC", kept).replace("\ufffd", "").split()).strip(" .")


def fitted(stem: str, extension: str, most: int = LONGEST_BYTES) -> str:
    """``stem`` + ``extension`` with the stem cut, between characters, to ``most`` bytes in all."""
    room = most - len(os.fsencode(extension))
    raw = os.fsencode(stem)[: max(0, room)]
    cut = raw.decode("utf-8", "ignore") if len(os.fsencode(stem)) > room else stem
    return cut.rstrip(" .") + extension if cut != stem else stem + extension


def key(name: str) -> str:
    """What two names share that some file system would hold for one: case and normal form set aside."""
    plain = os.fsencode(name).decode("utf-8", "replace")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", plain).casefold())


def same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one and the same directory entry's file."""
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def rename_exclusive(source: str, target: str) -> None:
    """Renames a file within one file system unless there is something at ``target``.

    A change of case or normal form alone, which such file systems take for the same name, is allowed.

    Raises:
        FileExistsError: there is another file; nothing has changed.
        OSError: from the system; nothing has changed.
    """
    if os.path.lexists(target) and key(source) == key(target) and same_file(source, target):
        if os.lstat(source).st_nlink < 2:
            os.rename(source, target)
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    if _system_rename(source, target):
        return
    if os.name == "nt":
        os.rename(source, target)  # refuses to replace by itself
        return
    try:
        # Two steps, at every moment of which the file has at least one name.
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
        os.rename(source, target)
        return
    os.unlink(source)


def _system_rename(source: str, target: str) -> bool:
    """Renames in one step that does not replace, where system and file system can; whether it did."""
    call = _library_call()
    if call is None:
        return False
    flag = _RENAME_NOREPLACE if sys.platform.startswith("linux") else _RENAME_EXCL
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), source, None, target)


def _library_call():  # type: ignore[no-untyped-def]
    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    if name is None:
        return None
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        call.restype = ctypes.c_int
    return call
