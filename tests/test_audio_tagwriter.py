"""Writing tags: what is written reads back everywhere, and nothing else of the file changes."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import audio_files as make
import mutagen
import mutagen.flac
import mutagen.id3
import mutagen.oggopus
import mutagen.wave
import numpy as np
import pytest
import soundfile
import wavinfo
from hypothesis import given
from hypothesis import strategies as st
from torture import KINDS, heard, is_root, make_files, torture_tags

from foley_desktop.audio import decode, replacing, riff
from foley_desktop.audio.tags import best, read_tags
from foley_desktop.audio.tagwriter import WRITABLE, can_write, foresee, write_copy, write_tags
from foley_desktop.audio.target import TargetExistsError
from foley_desktop.errors import TagWriteError

Synth = Callable[..., Path]

CHANGES = {
    "title": "Door Creak",
    "description": "Old wooden door, slow & long",
    "keywords": "door, wood",
    "category": "DOORS",
    "subcategory": "CREAK",
    "catid": "DOORCreak",
    "artist": "Somebody",
    "comment": "only a note",
    "copyright": "2024 Somebody",
}


def values(path: Path | str, field: str) -> set[str]:
    return {tag.value for tag in read_tags(str(path)) if tag.field == field}


def chunks(path: Path) -> list[tuple[bytes, bytes]]:
    with open(path, "rb") as file:
        found = riff.walk(file, path.stat().st_size)
        return [(chunk.id, chunk.read(file)) for chunk in found.chunks]


def text_of(path: Path) -> dict[str, str]:
    """What ffprobe says, keys in lower case."""
    command = ["ffprobe", "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "flat", str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    pairs = (line.partition("=") for line in result.stdout.splitlines())
    return {key.rpartition(".")[2].lower(): value.strip('"') for key, _, value in pairs}


# ---------------------------------------------------------------- every kind of file


@pytest.mark.parametrize("number", range(len(KINDS)), ids=[kind[0] for kind in KINDS])
def test_what_is_written_is_read_back_and_the_sound_stays(tmp_path: Path, number: int) -> None:
    path = make_files(tmp_path)[number]
    before, sound = decode.probe(str(path)), heard(path)
    written = write_tags(str(path), CHANGES)
    assert written.changed and not written.notes
    for field, value in CHANGES.items():
        assert value in values(path, field), field
        assert best(read_tags(str(path)), field) == value
    assert (heard(path), decode.probe(str(path)).audio_hash) == (sound, before.audio_hash)
    assert write_tags(str(path), CHANGES).changed is False
    write_tags(str(path), {"title": "Other", "comment": ""})
    assert values(path, "title") == {"Other"}
    assert "only a note" not in values(path, "comment")
    assert values(path, "catid") == {"DOORCreak"}
    assert heard(path) == sound


@pytest.mark.parametrize("number", range(len(KINDS)), ids=[kind[0] for kind in KINDS])
@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffprobe is not installed")
def test_ffprobe_reads_the_same(tmp_path: Path, number: int) -> None:
    path = make_files(tmp_path)[number]
    write_tags(str(path), CHANGES)
    found = text_of(path)
    assert found["title"] == CHANGES["title"]
    assert CHANGES["description"] in (found.get("description"), found.get("comment"))
    assert found["artist"] == CHANGES["artist"] and found["copyright"] == CHANGES["copyright"]
    if path.name.endswith((".wav", ".rf64.wav")):
        assert found["ikey"] == CHANGES["keywords"]
    else:
        assert found["keywords"] == CHANGES["keywords"] and found["catid"] == "DOORCreak"


@pytest.mark.parametrize("extension", ["wav", "rf64.wav"])
def test_wavinfo_reads_the_same(tmp_path: Path, extension: str) -> None:
    path = next(p for p in make_files(tmp_path) if p.name.endswith(extension))
    write_tags(str(path), CHANGES)
    found = wavinfo.WavInfoReader(str(path))
    assert (found.info.title, found.info.comment) == (CHANGES["title"], CHANGES["description"])
    assert (found.info.artist, found.info.copyright) == (CHANGES["artist"], CHANGES["copyright"])
    assert found.bext.description == CHANGES["description"]
    assert found.ixml is not None
    user = found.ixml.parsed.find("USER")
    assert user.findtext("CATID") == "DOORCreak" and user.findtext("FXNAME") == "Door Creak"
    assert user.findtext("DESCRIPTION") == CHANGES["description"]


def test_mutagen_reads_the_same(tmp_path: Path) -> None:
    for path in make_files(tmp_path):
        write_tags(str(path), CHANGES)
        if path.name.endswith("rf64.wav"):
            continue  # mutagen knows no RF64
        tags = mutagen.File(path).tags
        if isinstance(tags, mutagen.id3.ID3):
            assert tags["TIT2"].text == [CHANGES["title"]]
            assert tags["COMM::eng"].text == [CHANGES["description"]]
            assert tags["TXXX:CATID"].text == ["DOORCreak"] and tags["TXXX:KEYWORDS"].text == ["door, wood"]
        else:
            assert tags["title"] == [CHANGES["title"]] and tags["description"] == [CHANGES["description"]]
            assert tags["catid"] == ["DOORCreak"] and tags["keywords"] == ["door, wood"]


def test_letters_of_all_scripts_survive_everywhere(tmp_path: Path) -> None:
    text = "Tür „knarrt“ 爆炸声 дверь 🚪 a<b>&\"c'"
    for path in make_files(tmp_path):
        write_tags(str(path), {"description": text, "title": text, "keywords": text, "location": text})
        for field in ("description", "title", "keywords", "location"):
            assert values(path, field) == {text}, (path.name, field)
    found = wavinfo.WavInfoReader(str(tmp_path / "take 0.wav"), bext_encoding="utf-8", info_encoding="utf-8")
    assert (found.bext.description, found.info.comment) == (text, text)


def test_every_field_can_be_written_into_every_kind(tmp_path: Path) -> None:
    changes = {field: f"the {field}" for field in WRITABLE}
    for path in make_files(tmp_path, seconds=0.1):
        write_tags(str(path), changes)
        for field, value in changes.items():
            assert value in values(path, field), (path.name, field)
        write_tags(str(path), dict.fromkeys(changes, ""))
        left = {tag.field for tag in read_tags(str(path))} & set(WRITABLE)
        assert not left, (path.name, left)


def test_a_description_too_long_for_bext_is_cut_there_alone(synth: Synth) -> None:
    path = synth("a.wav", 0.1)
    long = "é" * 200
    written = write_tags(str(path), {"description": long})
    assert "256" in written.notes[0]
    assert best(read_tags(str(path)), "description") == long
    raw = dict(chunks(path))[b"bext"][:256]
    assert raw.rstrip(b"\0").decode("utf-8") == "é" * 128
    assert write_tags(str(path), {"description": long}).changed is False


# ---------------------------------------------------------------- what stays


def test_strange_chunks_and_their_order_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    strange = make.chunk(b"zQx1", bytes(range(255)))
    cue = make.chunk(b"cue ", struct.pack("<I6I", 1, 1, 0, 0x61746164, 0, 0, 100))
    adtl = make.chunk(b"LIST", b"adtl" + make.chunk(b"labl", struct.pack("<I", 1) + b"hit\0"))
    path.write_bytes(
        make.riff(
            make.bext(b"old words", b"Recorder", b"2024-01-02"),
            make.fmt(),
            strange,
            make.chunk(b"data", make.pcm(16)),
            make.info((b"INAM", b"old\0"), (b"ISFT", b"Editor\0"), (b"ICMT", b"old words\0")),
            cue,
            adtl,
        )
    )
    before = dict(chunks(path))
    write_tags(str(path), {"description": "new words"})
    after = chunks(path)
    assert [name for name, _ in after][:7] == [b"bext", b"fmt ", b"zQx1", b"data", b"LIST", b"cue ", b"LIST"]
    kept = [b"fmt ", b"zQx1", b"data", b"cue "]
    assert {name: dict(after)[name] for name in kept} == {name: before[name] for name in kept}
    bext = dict(after)[b"bext"]
    assert bext[256:] == before[b"bext"][256:] and bext[:9] == b"new words"
    assert values(path, "description") == {"new words"}
    assert values(path, "software") == {"Editor"} and values(path, "title") == {"old"}
    assert [payload for name, payload in after if payload[:4] == b"adtl"] == [adtl[8:]]


def test_ixml_is_edited_in_place(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    xml = (
        '<?xml version="1.0" encoding="UTF-8"?>\r\n<BWFXML>\r\n  <SCENE>12</SCENE>\r\n'
        "  <BEXT><BWF_DESCRIPTION>old</BWF_DESCRIPTION></BEXT>\r\n  <!-- kept -->\r\n"
        "  <TRACK_LIST><TRACK><NAME>Boom</NAME></TRACK></TRACK_LIST>\r\n</BWFXML>\r\n"
    )
    path.write_bytes(make.wav(make.chunk(b"iXML", xml.encode() + bytes(7))))
    write_tags(str(path), {"description": "new", "microphone": "a & b"})
    after = dict(chunks(path))[b"iXML"]
    assert after.endswith(bytes(7))
    text = after.decode()
    assert "<BWF_DESCRIPTION>new</BWF_DESCRIPTION>" in text and "<!-- kept -->" in text
    assert "<NAME>Boom</NAME>" in text and "<MICROPHONE>a &amp; b</MICROPHONE>" in text
    assert values(path, "scene") == {"12"} and values(path, "description") == {"new"}
    wide = tmp_path / "b.wav"
    wide.write_bytes(make.wav(make.chunk(b"iXML", "\ufeff".encode("utf-16-le") + xml.encode("utf-16-le"))))
    write_tags(str(wide), {"description": "neu"})
    assert dict(chunks(wide))[b"iXML"][:2] == b"\xff\xfe"
    assert values(wide, "description") == {"neu"}


def test_an_ixml_that_is_broken_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(make.wav(make.chunk(b"iXML", b"<BWFXML><SCENE>12</SCENE><NOTE>cut off")))
    write_tags(str(path), {"description": "new"})
    assert dict(chunks(path))[b"iXML"] == b"<BWFXML><SCENE>12</SCENE><NOTE>cut off"
    assert best(read_tags(str(path)), "description") == "new"


def test_pictures_and_unknown_frames_stay_in_id3(tmp_path: Path) -> None:
    tag = mutagen.id3.ID3()
    tag.add(mutagen.id3.APIC(encoding=0, mime="image/png", type=3, desc="cover", data=os.urandom(5000)))
    tag.add(mutagen.id3.PRIV(owner="x", data=b"\x01\x02"))
    tag.add(mutagen.id3.COMM(encoding=0, lang="eng", desc="iTunNORM", text=[" 0000"]))
    tag.add(mutagen.id3.TDRC(encoding=0, text=["2020-02-03"]))
    for version in (3, 4):
        target = io.BytesIO()
        tag.save(target, v2_version=version)
        mp3 = tmp_path / f"{version}.mp3"
        sound = make.encoded(make.sweep(0.3, 44100), 44100, "MP3", "MPEG_LAYER_III")
        mp3.write_bytes(target.getvalue() + sound + b"TAG" + b"old title".ljust(125, b"\0"))
        write_tags(str(mp3), {"title": "new title", "description": "words"})
        content = mp3.read_bytes()
        assert content[3] == version and sound in content
        again = mutagen.id3.ID3(mp3)
        assert again["APIC:cover"].data == tag["APIC:cover"].data and again["PRIV:x:\x01\x02"].data == b"\1\2"
        assert str(again["TDRC"]) == "2020-02-03" and "COMM:iTunNORM:eng" in again
        assert content[-125:].rstrip(b"\0").startswith(b"new title")


@pytest.mark.parametrize("track", [b"\0\0", b"\0\7"])
def test_what_id3v1_has_no_room_for_is_no_comment_of_its_own(tmp_path: Path, track: bytes) -> None:
    path = tmp_path / "a.mp3"
    sound = make.encoded(make.sweep(0.3, 44100), 44100, "MP3", "MPEG_LAYER_III")
    path.write_bytes(sound + b"TAG" + bytes(122) + track + b"\xff")
    for words in ("déjà vu, 猫", "a heavy wooden door is slammed in a stone hall"):
        write_tags(str(path), {"description": words})
        assert path.read_bytes()[-31:-3].rstrip(b"\0") == words.encode("latin-1", "replace")[:28]
        assert values(path, "description") == {words} and values(path, "comment") == set()
    write_tags(str(path), {"comment": "a note of its own"})
    assert values(path, "comment") == {"a note of its own"}


def test_apev2_behind_an_mp3_is_kept_in_step(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    sound = make.encoded(make.sweep(0.3, 44100), 44100, "MP3", "MPEG_LAYER_III")
    path.write_bytes(sound)
    import mutagen.apev2

    ape = mutagen.apev2.APEv2()
    ape["Title"], ape["Other"] = "old", "kept"
    ape.save(path)
    write_tags(str(path), {"title": "new"})
    again = mutagen.apev2.APEv2(path)
    assert (str(again["Title"]), str(again["Other"])) == ("new", "kept")
    assert values(path, "title") == {"new"} and sound in path.read_bytes()


def test_flac_blocks_and_frames_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    picture = mutagen.flac.Picture()
    picture.data = os.urandom(3000)
    application = b"test" + bytes(range(100))
    path.write_bytes(make.flac((2, application), (4, make.vorbis_comment(b"TITLE=old", b"ODD=\xff\xfe"))))
    with_picture = mutagen.flac.FLAC(path)
    with_picture.add_picture(picture)
    frames = b"".join(make.flac_frames())
    write_tags(str(path), {"title": "new"})
    content = path.read_bytes()
    assert content.endswith(frames) and application in content and b"ODD=\xff\xfe" in content
    assert values(path, "title") == {"new"}
    plain = tmp_path / "b.flac"
    plain.write_bytes(make.flac())
    write_tags(str(plain), {"title": "first"})
    assert values(plain, "title") == {"first"} and plain.read_bytes().endswith(frames)


@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
def test_ogg_takes_comments_of_any_length_and_keeps_every_packet(tmp_path: Path, subtype: str) -> None:
    path = tmp_path / "a.ogg"
    first = make.encoded(make.sweep(2.0, 48000), 48000, "OGG", subtype)
    second = make.encoded(make.sweep(1.0, 48000, seed=2), 48000, "OGG", subtype)
    path.write_bytes(first + second)
    frames = decode.probe(str(path)).info.frames
    sound = heard_by_us(path)
    for length in (10, 100_000, 70_000, 0, 300):
        text = "y" * length
        # Cut by what a tag may hold at most, here and when it is read.
        write_tags(str(path), {"description": text})
        assert values(path, "description") == ({text[:20_000]} if text else set())
        assert (decode.probe(str(path)).info.frames, heard_by_us(path)) == (frames, sound)
        assert path.read_bytes().endswith(second)
        assert mutagen.File(path).info.length > 0
    numbers = [struct.unpack_from("<I", page, 18)[0] for page in make.ogg_pages(path.read_bytes())]
    assert numbers[: numbers.index(0, 1)] == list(range(numbers.index(0, 1)))


def heard_by_us(path: Path) -> str:
    return decode.probe(str(path)).audio_hash


def test_64_bit_sizes_are_brought_up_to_date(tmp_path: Path) -> None:
    for form in (b"RF64", b"BW64"):
        path = tmp_path / f"{form.decode()}.wav"
        data = make.pcm(16)
        sized = make.chunk(b"data", data, size=0xFFFFFFFF)
        path.write_bytes(make.riff(make.ds64(len(data), 9999), make.fmt(), sized, form=form, size=0xFFFFFFFF))
        write_tags(str(path), {"description": "words", "title": "t"})
        content = path.read_bytes()
        riff_size, data_size = struct.unpack_from("<QQ", content, 20)
        assert content[:8] == form + b"\xff" * 4
        assert (riff_size, data_size) == (len(content) - 8, len(data))
        assert values(path, "description") == {"words"} and data in content
        if form == b"RF64":
            assert wavinfo.WavInfoReader(str(path)).bext.description == "words"


def test_odd_sounds_and_missing_pads(tmp_path: Path) -> None:
    odd = make.pcm(24, np.append(make.TONE, 0.25))
    for name, pad, behind in (
        ("padded with a letter", b"Q", make.info((b"ICMT", b"after\0"))),
        ("not padded", None, make.info((b"ICMT", b"after\0"))),
        ("alone and not padded", None, b""),
    ):
        path = tmp_path / f"{name}.wav"
        path.write_bytes(make.riff(make.fmt(bits=24), make.chunk(b"data", odd, pad=pad), behind))
        sound = decode.probe(str(path)).audio_hash
        write_tags(str(path), {"title": "T"})
        assert dict(chunks(path))[b"data"] == odd
        assert decode.probe(str(path)).audio_hash == sound
        assert values(path, "title") == {"T"}
        assert values(path, "description") == ({"after"} if behind else set())
        assert wavinfo.WavInfoReader(str(path)).info.title == "T"


def test_times_permissions_and_attributes_stay(synth: Synth) -> None:
    path = synth("a.wav", 0.1)
    os.chmod(path, 0o640)
    os.utime(path, ns=(10**18 + 123456789, 10**18 + 987654321))
    with_attributes = True
    try:
        os.setxattr(path, "user.colour", b"red")
    except OSError:
        with_attributes = False
    write_tags(str(path), {"title": "x"})
    status = path.stat()
    assert (status.st_mtime_ns, stat.S_IMODE(status.st_mode)) == (10**18 + 987654321, 0o640)
    if with_attributes:
        assert os.getxattr(path, "user.colour") == b"red"


def test_links_lead_to_the_file_that_is_written(tmp_path: Path, synth: Synth) -> None:
    path = synth("real/a.wav", 0.1)
    link = tmp_path / "link.wav"
    link.symlink_to(path)
    assert write_tags(str(link), {"title": "x"}).path == str(path)
    assert link.is_symlink() and values(path, "title") == {"x"}


def test_a_second_name_of_a_file_keeps_the_old_tags_and_the_user_is_told(
    tmp_path: Path, synth: Synth
) -> None:
    path = synth("a.wav", 0.1)
    other = tmp_path / "other.wav"
    other.hardlink_to(path)
    before = other.read_bytes()
    told = ("The file has 1 other name, with the old tags from now on.",)
    assert foresee(str(path), {"title": "x"}).notes == told
    assert write_tags(str(path), {"title": "x"}, backup=True).notes == told
    assert (other.read_bytes(), values(path, "title")) == (before, {"x"})
    assert write_tags(str(path), {"title": "y"}).notes == (), "the new file has one name"


def test_a_backup_is_the_file_as_it_was(synth: Synth) -> None:
    path = synth("a.wav", 0.1)
    before = path.read_bytes()
    first = write_tags(str(path), {"title": "x"}, backup=True)
    assert Path(first.backup).read_bytes() == before and first.backup.endswith("a.wav.bak")
    second = write_tags(str(path), {"title": "y"}, backup=True)
    assert second.backup.endswith("a.wav.bak2")
    assert not decode.is_media_name(first.backup)


def test_names_that_are_not_text_and_names_of_full_length(tmp_path: Path, synth: Synth) -> None:
    source = synth("a.wav", 0.1)
    for raw in (b"caf\xe9.wav", b"x" * 251 + b".wav", "line\nbreak \u202e.wav".encode()):
        path = os.path.join(os.fsencode(tmp_path), raw)
        shutil.copy(source, path)
        written = write_tags(os.fsdecode(path), {"title": "x"}, backup=True)
        assert values(os.fsdecode(path), "title") == {"x"}
        assert os.path.exists(written.backup)


# ---------------------------------------------------------------- refusals


def refused(path: Path, reason: str, changes: dict[str, str] | None = None) -> TagWriteError:
    """Tries to write and sees to it that nothing changed."""
    before, names = path.read_bytes(), sorted(os.listdir(path.parent))
    state = path.stat()
    with pytest.raises(TagWriteError) as caught:
        write_tags(str(path), changes or CHANGES)
    assert caught.value.reason == reason
    assert path.read_bytes() == before and sorted(os.listdir(path.parent)) == names
    assert path.stat().st_mtime_ns == state.st_mtime_ns and path.stat().st_ino == state.st_ino
    return caught.value


def test_write_protected_files_and_folders_are_refused(synth: Synth) -> None:
    path = synth("folder/a.wav", 0.1)
    os.chmod(path, 0o444)
    assert "write-protected" in str(refused(path, "read_only"))
    os.chmod(path, 0o644)
    os.chmod(path.parent, 0o555)
    try:
        refused(path, "read_only")
    finally:
        os.chmod(path.parent, 0o755)


@pytest.mark.skipif(not is_root(), reason="only root can become another user")
def test_a_user_without_rights_is_refused(synth: Synth, tmp_path: Path) -> None:
    path = synth("folder/a.wav", 0.1)
    for folder in (path.parent, *path.parent.parents):
        if str(folder).startswith(str(tmp_path.parent.parent)):
            os.chmod(folder, 0o755)
    script = (
        "import os, sys\nfrom foley_desktop.audio.tagwriter import write_tags\n"
        "from foley_desktop.errors import TagWriteError\nos.setuid(65534)\n"
        "try:\n    write_tags(sys.argv[1], {'title': 'x'})\n"
        "except TagWriteError as error:\n    print(error.reason)\n"
    )
    import sys

    result = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert result.stdout.strip() == "read_only", result.stderr


def test_a_file_that_another_program_writes_to_is_refused(synth: Synth) -> None:
    path = synth("a.wav", 0.1)
    with open(path, "r+b"):
        if not replacing.is_open_for_writing(str(path)):
            pytest.skip("this file system grants no leases, so nobody can tell")
        assert "open for writing" in str(refused(path, "in_use"))
    with open(path, "rb") as reader:
        before = reader.read()
        write_tags(str(path), {"title": "x"})
        reader.seek(0)
        assert reader.read() == before, "who reads the old file goes on reading the old file"


def test_a_file_that_changes_meanwhile_is_left_to_the_other_program(
    synth: Synth, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = synth("a.wav", 0.1)
    take_over = replacing.take_over

    def write_at_once(source: str, part: str) -> None:
        take_over(source, part)
        with open(source, "ab") as file:
            file.write(b"from elsewhere")

    monkeypatch.setattr(replacing, "take_over", write_at_once)
    with pytest.raises(TagWriteError) as caught:
        write_tags(str(path), {"title": "x"})
    assert caught.value.reason == "changed"
    assert path.read_bytes().endswith(b"from elsewhere")
    assert os.listdir(path.parent) == ["a.wav"]


def test_files_whose_sizes_lie_are_refused(tmp_path: Path) -> None:
    data = make.pcm(16)
    cases = {
        "placeholder": make.riff(make.fmt(), make.chunk(b"data", data, size=0xFFFFFFFF)),
        "zero": make.riff(make.fmt(), make.chunk(b"data", data, size=0)),
        "cut": make.riff(make.fmt(), make.chunk(b"data", data, size=2 * len(data))),
        "lying list": make.riff(
            make.fmt(), make.chunk(b"data", data), make.chunk(b"LIST", b"INFO", size=999)
        ),
        "no sound": make.riff(make.fmt(), make.info((b"INAM", b"x\0"))),
    }
    for name, content in cases.items():
        path = tmp_path / f"{name}.wav"
        path.write_bytes(content)
        refused(path, "damaged")


def test_kinds_without_a_writer_and_what_is_no_sound_are_refused(tmp_path: Path) -> None:
    m4a = tmp_path / "a.m4a"
    make.coded_by_ffmpeg(m4a, make.sweep(0.5, 48000), 48000, "ipod", "aac")
    assert "MPEG-4" in str(refused(m4a, "unsupported"))
    page = tmp_path / "a.wav"
    page.write_text("<!doctype html><html>" + "x" * 100)
    assert "web page" in str(refused(page, "damaged"))
    with pytest.raises(TagWriteError) as caught:
        write_tags(str(tmp_path / "gone.wav"), CHANGES)
    assert caught.value.reason == "vanished"
    with pytest.raises(TagWriteError):
        write_tags(str(m4a), {"no such field": "x"})
    assert can_write("a.WAV") and can_write("b.opus") and not can_write("c.m4a")


def test_a_lying_writer_is_found_out(synth: Synth, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the new file to come out wrong, whatever the reason, the old one would stay."""
    from foley_desktop.audio import tagwriter

    path = synth("a.wav", 0.1, kind="noise")
    whole = tagwriter.copied
    damages: dict[str, Callable[[bytes], bytes]] = {
        "a sample": lambda content: content[:2000] + bytes((content[2000] ^ 1,)) + content[2001:],
        "an end": lambda content: content[:-500],
        "a tag": lambda content: content.replace(b"Door Creak", b"Door Crook").replace(
            "Door Creak".encode("utf-16"), b"" * 22
        ),
    }
    for damage in damages.values():
        monkeypatch.setattr(
            tagwriter, "copied", lambda file, pieces, damage=damage: [damage(b"".join(whole(file, pieces)))]
        )
        before = path.read_bytes()
        with pytest.raises(TagWriteError):
            write_tags(str(path), CHANGES)
        assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


# ---------------------------------------------------------------- full disks and kills


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 600 kB."""
    if not is_root():
        pytest.skip("only root can mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here: " + mounted.stderr.decode().strip())
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("checked_first", [True, False])
def test_a_full_disk_costs_nothing(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, checked_first: bool
) -> None:
    if not checked_first:  # Space that is there when asked for, and gone when needed.
        usage = shutil.disk_usage("/")
        monkeypatch.setattr(replacing.shutil, "disk_usage", lambda folder: usage)
    path = small_disk / "a.wav"
    soundfile.write(path, np.random.default_rng(0).uniform(-0.5, 0.5, 100_000), 48000, subtype="PCM_24")
    for leave in (280_000, 100_000, 4096, 0):
        filler = small_disk / "filler"
        filler.unlink(missing_ok=True)
        free = shutil.disk_usage(small_disk).free if checked_first else os.statvfs(small_disk)
        left = free if checked_first else free.f_bavail * free.f_frsize  # type: ignore[union-attr]
        filler.write_bytes(bytes(max(0, left - leave)))  # type: ignore[operator]
        assert "space" in str(refused(path, "no_space"))


def test_kills_at_any_moment_lose_nothing(tmp_path: Path) -> None:
    outcome = torture_tags(tmp_path / "files", kills=40, seed=7)
    assert outcome.harmless, outcome
    assert outcome.kills == 40
    assert outcome.written > 0, "nothing was ever written: the kills came too early to prove anything"


def test_what_a_killed_writer_left_is_cleared_away_by_the_next(synth: Synth) -> None:
    path = synth("folder/a.wav", 0.1)
    left = path.parent / f".foley-{'0' * 32}.part"
    busy = path.parent / f".foley-{'1' * 32}.part"
    other = path.parent / ".foley-mine.part"
    for file in (left, busy, other):
        file.write_bytes(b"half")
    with open(busy, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        write_tags(str(path), {"title": "x"})
        assert busy.exists() and other.exists() and not left.exists()


# ---------------------------------------------------------------- copies


def test_a_copy_carries_new_tags_and_leaves_the_original_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for path in make_files(tmp_path / "in"):
        os.chmod(path, 0o444)
        before = path.read_bytes()
        target = tmp_path / "out" / path.name
        write_copy(str(path), CHANGES, str(target))
        assert path.read_bytes() == before
        assert heard(target) == heard(path) and values(target, "title") == {"Door Creak"}
        with pytest.raises(TargetExistsError):
            write_copy(str(path), CHANGES, str(target))
    assert len(os.listdir(tmp_path / "out")) == len(KINDS)


def test_a_copy_of_what_takes_no_tags_is_made_byte_for_byte(tmp_path: Path) -> None:
    odd = tmp_path / "a.wav"
    odd.write_bytes(make.riff(make.fmt(), make.chunk(b"data", make.pcm(16), size=0xFFFFFFFF)))
    written = write_copy(str(odd), CHANGES, str(tmp_path / "b.wav"))
    assert (tmp_path / "b.wav").read_bytes() == odd.read_bytes()
    assert "not finalised" in written.notes[0]


# ---------------------------------------------------------------- anything at all

SEEDS = [
    make.riff(
        make.bext(b"words"),
        make.fmt(),
        make.chunk(b"data", make.pcm(16)),
        make.info((b"INAM", b"name\0"), (b"ICMT", b"odd")),
        make.chunk(b"iXML", b"<BWFXML><SCENE>1</SCENE><USER><CATID>RAIN</CATID></USER></BWFXML>"),
        make.chunk(b"id3 ", make.id3((b"TIT2", "name"))),
    ),
    make.aiff(make.comm(), make.aiff_chunk(b"NAME", b"odd"), make.ssnd(make.pcm(16, order=">"))),
    make.flac((4, make.vorbis_comment(b"TITLE=old"))),
    make.id3((b"TIT2", "name")) + make.encoded(make.sweep(0.2, 44100), 44100, "MP3", "MPEG_LAYER_III"),
    make.encoded(make.sweep(0.2, 48000), 48000, "OGG", "VORBIS"),
]


@given(
    seed=st.integers(0, len(SEEDS) - 1),
    flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4),
    cut=st.one_of(st.none(), st.integers(0, 10**6)),
    early=st.booleans(),
)
def test_whatever_is_in_a_file_it_is_written_right_or_not_at_all(
    tmp_path: Path, seed: int, flips: list[tuple[int, int]], cut: int | None, early: bool
) -> None:
    content = bytearray(SEEDS[seed])
    reach = 400 if early else len(content)
    for place, value in flips:
        content[place % min(reach, len(content))] = value
    if cut is not None:
        del content[cut % len(content) :]
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    try:
        write_tags(str(path), {"title": "new", "description": "all new"})
    except TagWriteError:
        assert path.read_bytes() == bytes(content)
    else:
        after = decode.probe(str(path))
        assert best(read_tags(str(path)), "title") in ("new",) or "new" in values(path, "title")
        path.write_bytes(content)
        assert decode.probe(str(path)).audio_hash == after.audio_hash
    assert os.listdir(tmp_path) == ["a.wav"]


# ---------------------------------------------------------------- foreseeing


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_what_is_foreseen_is_what_happens_and_foreseeing_touches_nothing(tmp_path: Path, number: int) -> None:
    path = make_files(tmp_path)[number]
    write_tags(str(path), {"title": "Old", "keywords": "one, two"})
    changes = {"title": "New", "keywords": "", "description": "Door 爆炸 " * 40}
    content, status, before = path.read_bytes(), path.stat(), read_tags(str(path))
    foreseen = foresee(str(path), changes)
    assert path.read_bytes() == content and path.stat().st_mtime_ns == status.st_mtime_ns
    written = write_tags(str(path), changes)
    after = read_tags(str(path))
    told = {(change.field, change.source): (change.old, change.new) for change in foreseen.changes}
    happened = {}
    for field, source in {(tag.field, tag.source) for tag in (*before, *after) if tag.field in changes}:
        old, new = (
            " · ".join(tag.value for tag in tags if (tag.field, tag.source) == (field, source))
            for tags in (before, after)
        )
        if old != new:
            happened[field, source] = (old, new)
    assert told == happened and {field for field, _ in told} == set(changes)
    assert foreseen.notes == written.notes
    assert foresee(str(path), changes).changes == ()


def test_what_would_be_refused_is_refused_when_it_is_foreseen(tmp_path: Path) -> None:
    path = make_files(tmp_path)[0]
    os.chmod(path, 0o444)
    with pytest.raises(TagWriteError) as caught:
        foresee(str(path), CHANGES)
    assert caught.value.reason == "read_only"
    (tmp_path / "a.m4a").write_bytes(b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42" + bytes(64))
    with pytest.raises(TagWriteError) as caught:
        foresee(str(tmp_path / "a.m4a"), CHANGES)
    assert caught.value.reason == "unsupported"
