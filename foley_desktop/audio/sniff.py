"""Tells from a file's first bytes what it is, whatever its name says."""

from __future__ import annotations

import os
from typing import BinaryIO, NamedTuple

from foley_desktop.audio import mpeg
from foley_desktop.audio.splice import read_at
from foley_desktop.errors import AudioFileError


class Kind(NamedTuple):
    """A kind of file, its name for people, and the extensions it may have."""

    code: str
    label: str
    extensions: frozenset[str]


def _kind(code: str, label: str, extensions: str) -> Kind:
    return Kind(code, label, frozenset("." + extension for extension in extensions.split()))


WAV = _kind("wav", "WAV", "wav wave bwf rf64 amb")
AIFF = _kind("aiff", "AIFF", "aif aiff aifc afc")
FLAC = _kind("flac", "FLAC", "flac fla")
OGG = _kind("ogg", "OGG", "ogg oga opus ogv ogx spx")
MPEG = _kind("mpeg", "MP3", "mp3 mp2 mp1 mpa mpga")
SNDFILE = _kind("sndfile", "", "")
IFF = _kind("sndfile", "IFF", "iff svx 8svx 16sv")
MP4 = _kind("mov", "MPEG-4", "m4a m4b m4r m4p mp4 m4v mov 3gp 3g2 aac alac qt mj2 f4v f4a")
ASF = _kind("asf", "Windows Media", "wma wmv asf")
ADTS = _kind("aac", "AAC", "aac adts")
LATM = _kind("loas", "AAC", "aac latm loas")
MATROSKA = _kind("matroska", "Matroska", "mkv mka webm weba mk3d")
AVI = _kind("avi", "AVI", "avi divx")
FLASH = _kind("flv", "Flash video", "flv f4v")
MPEG_PS = _kind("mpeg-ps", "MPEG video", "mpg mpeg vob m2p mpe dat")
MPEG_TS = _kind("mpegts", "MPEG transport stream", "ts mts m2ts m2t tp trp mpg mpeg")
WAVPACK = _kind("wv", "WavPack", "wv")
APE = _kind("ape", "Monkey's Audio", "ape apl mac")
TTA = _kind("tta", "True Audio", "tta")
AC3 = _kind("ac3", "Dolby Digital", "ac3 eac3 ec3")
AMR = _kind("amr", "AMR", "amr awb 3ga")
DSF = _kind("dsf", "DSD", "dsf")
MUSEPACK = _kind("mpc", "Musepack", "mpc mp+ mpp")

PYAV_KINDS = frozenset(
    {MP4, ASF, ADTS, LATM, MATROSKA, AVI, FLASH, MPEG_PS, MPEG_TS, WAVPACK, APE, TTA, AC3, AMR, DSF, MUSEPACK}
)

_SNDFILE_MARKS: tuple[tuple[bytes, str, str], ...] = (
    (b"caff", "CAF", "caf"),
    (b".snd", "AU", "au snd"),
    (b"dns.", "AU", "au snd"),
    (b"riff\x2e\x91\xcf\x11", "Wave64", "w64 wav"),
    (b"Creative Voice File", "VOC", "voc"),
    (b"NIST_1A", "NIST Sphere", "nist sph wav"),
    (b" paf", "PARIS", "paf"),
    (b"fap ", "PARIS", "paf"),
    (b"Extended Instrument: ", "FastTracker instrument", "xi"),
    (b"MATLAB 5.0 MAT-file", "MATLAB", "mat"),
    (b"2BIT", "AVR", "avr"),
    (b"PVF1", "PVF", "pvf"),
    (b"\x64\xa3\x01\x00", "IRCAM", "sf ircam"),
    (b"\x64\xa3\x02\x00", "IRCAM", "sf ircam"),
    (b"\x64\xa3\x03\x00", "IRCAM", "sf ircam"),
    (b"\x00\x02\xa3\x64", "IRCAM", "sf ircam"),
    (b"\x00\x01\xa3\x64", "IRCAM", "sf ircam"),
    (b"ALawSoundFile**", "Psion", "wve"),
    (b"\0\0\x03\xe8\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\x0bsamplerate\0", "MATLAB", "mat"),
    (b"\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\x0b\0\0\0samplerate\0", "MATLAB", "mat"),
    (b"\xf0\x7e", "MIDI sample dump", "sds"),
)
_PYAV_MARKS: tuple[tuple[bytes, Kind], ...] = (
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", ASF),
    (b"\x1a\x45\xdf\xa3", MATROSKA),
    (b"FLV\x01", FLASH),
    (b"\x00\x00\x01\xba", MPEG_PS),
    (b"wvpk", WAVPACK),
    (b"MAC ", APE),
    (b"TTA1", TTA),
    (b"\x0b\x77", AC3),
    (b"#!AMR", AMR),
    (b"DSD \x1c\x00\x00\x00", DSF),
    (b"MPCK", MUSEPACK),
    (b"MP+", MUSEPACK),
)
_ATOMS = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "This is a Git LFS pointer; the sound itself was not downloaded."),
    (b"MThd", "This is a MIDI file: notes, no sound."),
    (b"PK\x03\x04", "This is a ZIP archive, not a sound."),
    (b"Rar!", "This is a RAR archive, not a sound."),
    (b"7z\xbc\xaf", "This is a 7z archive, not a sound."),
    (b"\x1f\x8b", "This is a gzip archive, not a sound."),
    (b"\x89PNG", "This is a picture, not a sound."),
    (b"\xff\xd8\xff", "This is a picture, not a sound."),
    (b"GIF8", "This is a picture, not a sound."),
    (b"%PDF", "This is a PDF document, not a sound."),
    (b"\x7fELF", "This is a program, not a sound."),
    (b"MZ", "This is a program, not a sound."),
    (b"\x00\x05\x16\x07", "This is a macOS companion file, not a sound."),
    (b"bplist", "This is a property list, not a sound."),
)
_PICTURES = tuple(b"ftyp" + brand for brand in (b"heic", b"heix", b"mif1", b"msf1", b"avif"))
_JUNK_BYTES = 1 << 18
"""How far zeros or rubbish in front of an MPEG stream are searched through."""


def sniff(file: BinaryIO, size: int, extension: str) -> tuple[Kind, int]:
    """The kind of an open file and the offset at which it really begins.

    ID3v2 tags in front are stepped over, and zeros in front of MPEG audio. ``extension`` (lower case,
    with dot) only breaks ties.

    Raises:
        AudioFileError: ``not_audio`` with a sentence that says what it is instead, ``empty`` for a
            tag without sound.
    """
    start = skip_id3(file, size)
    head = read_at(file, start, 64)
    kind = _by_mark(head)
    if kind is not None:
        return kind, start
    if _is_transport_stream(file, start):
        return MPEG_TS, start
    found = _find_mpeg(file, start, size)
    # Rubbish in front is believed only of a file that is called MP3, is tagged like one, or has zeros there.
    behind_rubbish = start or extension in MPEG.extensions or not head.strip(b"\0")
    if found is not None and (found == start or behind_rubbish):
        return MPEG, found
    raise _not_audio(head, start)


def mismatch(kind: Kind, extension: str) -> bool:
    """Whether a file's name promises something else than what it is. Unknown names promise nothing."""
    return bool(kind.extensions) and extension in _ALL_EXTENSIONS and extension not in kind.extensions


def skip_id3(file: BinaryIO, size: int) -> int:
    """The offset behind the ID3v2 tags at a file's beginning; 0 when there is none."""
    start = 0
    for _ in range(8):
        head = read_at(file, start, 10)
        if len(head) < 10 or head[:3] != b"ID3" or head[3] == 0xFF or max(head[6:10]) > 0x7F:
            return start
        length = head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9]
        start = min(size, start + 10 + length + (10 if head[5] & 0x10 else 0))
    return start


def _by_mark(head: bytes) -> Kind | None:
    form, inner = head[:4], head[8:12]
    if form in (b"RIFF", b"RIFX", b"RF64", b"BW64"):
        if inner == b"AVI ":
            return AVI
        return WAV if inner == b"WAVE" else None
    if form == b"FORM":
        return AIFF if inner in (b"AIFF", b"AIFC") else IFF if inner in (b"8SVX", b"16SV") else None
    if form == b"fLaC":
        return FLAC
    if form == b"OggS":
        return OGG
    for mark, label, extensions in _SNDFILE_MARKS:
        if head.startswith(mark):
            return _kind("sndfile", label, extensions)
    for mark, kind in _PYAV_MARKS:
        if head.startswith(mark):
            return kind
    if head[4:8] in _ATOMS and head[:1] < b" ":
        return None if head[4:12] in _PICTURES else MP4
    if len(head) >= 7 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        return ADTS
    if len(head) >= 3 and head[0] == 0x56 and head[1] & 0xE0 == 0xE0:
        return LATM
    return None


def _is_transport_stream(file: BinaryIO, start: int) -> bool:
    for packet, lead in ((188, 0), (192, 4)):
        if all(read_at(file, start + lead + packet * index, 1) == b"\x47" for index in range(4)):
            return True
    return False


def _find_mpeg(file: BinaryIO, start: int, size: int) -> int | None:
    """Where MPEG audio begins, at ``start`` or behind zeros or rubbish."""
    data = read_at(file, start, _JUNK_BYTES + 8192)
    found = mpeg.find_stream(data, _JUNK_BYTES, start + len(data) >= size)
    return None if found is None else start + found


def _not_audio(head: bytes, start: int) -> AudioFileError:
    if start:
        return AudioFileError("empty", "The file holds a tag but no sound.")
    for mark, sentence in _OTHERS:
        if head.startswith(mark):
            return AudioFileError("not_audio", sentence)
    if head[4:12] in _PICTURES:
        return AudioFileError("not_audio", "This is a picture, not a sound.")
    if not head.strip(b"\0"):
        return AudioFileError("not_audio", "The file begins with nothing but zeros, as a broken copy does.")
    if len(head) < 12:
        return AudioFileError("not_audio", "The file is too short to be a sound.")
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return AudioFileError("not_audio", "This is a web page, not a sound.")
    if all(byte in b"\t\r\n\f" or byte >= 0x20 for byte in head) and _is_utf8(head):
        return AudioFileError("not_audio", "This is a text file, not a sound.")
    return AudioFileError("not_audio", "This is not a sound file in any known format.")


def _is_utf8(head: bytes) -> bool:
    try:
        head[:-3].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def extension_of(path: str) -> str:
    return os.path.splitext(path)[1].lower()


_ALL_EXTENSIONS = frozenset().union(
    *(kind.extensions for kind in (WAV, AIFF, FLAC, OGG, MPEG, *PYAV_KINDS)),
    *({f".{extension}" for extension in extensions.split()} for _, _, extensions in _SNDFILE_MARKS),
)
