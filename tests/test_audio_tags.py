"""The tag reader: every container, every wrong encoding, and damage that must cost one value only."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from audio_files import (
    BEXT_TIME_REFERENCE,
    aiff,
    aiff_chunk,
    bext,
    chunk,
    coded_by_ffmpeg,
    comm,
    encoded,
    flac,
    fmt,
    id3,
    info,
    ogg_pages,
    pcm,
    riff,
    sealed,
    ssnd,
    sweep,
    vorbis_comment,
    wav,
)

from foley_desktop.audio.tags import SOURCES, best, read_tags
from foley_desktop.models import Tag


@pytest.fixture
def description(tmp_path: Path):
    """The description that is read out of a file of these bytes."""

    def read(data: bytes, name: str = "a.wav") -> str:
        path = tmp_path / name
        path.write_bytes(data)
        return best(read_tags(str(path)), "description")

    return read


@pytest.fixture
def tags(tmp_path: Path):
    """The tags of a file of these bytes as ``(field, value, source)``."""

    def read(data: bytes, name: str = "a.wav") -> set[tuple[str, str, str]]:
        path = tmp_path / name
        path.write_bytes(data)
        return {(tag.field, tag.value, tag.source) for tag in read_tags(str(path))}

    return read


# ---------------------------------------------------------------- bext


def test_bext_gives_all_its_fields(tags) -> None:
    data = wav(before=[bext(b"A door", b"Recorder", b"2024-05-06", b"07:08:09")])
    assert tags(data) == {
        ("description", "A door", "bext"),
        ("originator", "Recorder", "bext"),
        ("date", "2024-05-06", "bext"),
        ("time", "07:08:09", "bext"),
        ("time_reference", str(BEXT_TIME_REFERENCE), "bext"),
    }


def test_full_fields_without_a_terminator_do_not_run_into_the_next(tags) -> None:
    found = tags(wav(before=[bext(b"A" * 256, b"B" * 32, b"2024-05-06", b"07:08:09")]))
    assert ("description", "A" * 256, "bext") in found
    assert ("originator", "B" * 32, "bext") in found


def test_text_behind_the_nul_is_not_shown(description) -> None:
    assert description(wav(before=[bext(b"Door\0rubbish of the last take")])) == "Door"


def test_a_short_bext_gives_what_it_has(tags) -> None:
    assert tags(wav(before=[chunk(b"bext", b"short".ljust(200, b"\0"))])) == {
        ("description", "short", "bext")
    }
    assert tags(wav(before=[chunk(b"bext", b"")])) == set()


def test_blanks_are_nothing_and_an_impossible_date_stays_text(tags) -> None:
    found = tags(wav(before=[bext(b" " * 256, b"\t", b"2024-02-30", b"25:61:00")]))
    assert {("date", "2024-02-30", "bext"), ("time", "25:61:00", "bext")} <= found
    assert not {field for field, *_ in found} & {"description", "originator"}


@pytest.mark.parametrize(
    "raw, text",
    [
        ("Türschlag 路径 🚪".encode(), "Türschlag 路径 🚪"),
        ("Türschlag".encode("latin-1"), "Türschlag"),
        ("Café".encode("latin-1"), "Café"),
        ("Spaß".encode("latin-1"), "Spaß"),
        ("“Door” – it’s".encode("cp1252"), "“Door” – it’s"),
        (b"undefined \x81 in cp1252 \xfc", "undefined  in cp1252 ü"),
        (("a" * 255 + "é").encode()[:256], "a" * 255),
        ("Straße, Caf\u00e9".encode()[:-1], "Straße, Caf"),
        ("Caf\u00e9".encode()[:-1], "Caf"),
        ("ドアの音".encode()[:-1], "ドアの"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        (b"<b>Door</b>\x1b[31m red\x07 & <img src=x>", "<b>Door</b>[31m red & <img src=x>"),
        (b"two\r\nlines\tand a tab", "two lines and a tab"),
    ],
)
def test_encodings(raw: bytes, text: str, description) -> None:
    assert description(wav(before=[bext(raw)])) == text


def test_shift_jis_is_read_as_something_and_costs_no_other_field(tags) -> None:
    found = tags(wav(info((b"INAM", b"Title")), before=[bext("ドアの音".encode("shift-jis"), b"Recorder")]))
    assert {("title", "Title", "INFO"), ("originator", "Recorder", "bext")} <= found
    assert any(field == "description" and value for field, value, _ in found)


# ---------------------------------------------------------------- INFO


@pytest.mark.parametrize(
    "items, text",
    [
        (info((b"ICMT", b"No terminator")), "No terminator"),
        (info((b"ICMT", b"Door\0\xde\xad\xbe")), "Door"),
        (info((b"ICMT", "Tür".encode("latin-1"))), "Tür"),
        (chunk(b"LIST", b"adtl" + chunk(b"labl", b"\1\0\0\0mark\0")) + info((b"ICMT", b"both")), "both"),
        (
            chunk(
                b"LIST",
                b"INFO"
                + chunk(b"IART", b"abc", pad=None)
                + chunk(b"INAM", b"xyz12", pad=None)
                + chunk(b"ICMT", b"unpadded", pad=None),
            ),
            "unpadded",
        ),
        (chunk(b"LIST", b"INFO" + chunk(b"ICMT", b"odd", pad=None) + b"\0\1\2", pad=None), "odd"),
        (info((b"ISFT", b"x"), (b"ICMT", b"")) + info((b"ICMT", b"second list")), "second list"),
        (chunk(b"LIST", b"INFO" + chunk(b"ICMT", b"longer than it is", 5000)), "longer than it is"),
    ],
)
@pytest.mark.parametrize("in_front", [True, False])
def test_info(items: bytes, text: str, in_front: bool, description) -> None:
    data = wav(before=[items]) if in_front else wav(items)
    assert description(data) == text


def test_info_fields_have_names(tags) -> None:
    found = tags(
        wav(info((b"INAM", b"T"), (b"IKEY", b"K"), (b"IGNR", b"G"), (b"IART", b"A"), (b"IXYZ", b"?")))
    )
    assert found == {
        ("title", "T", "INFO"),
        ("keywords", "K", "INFO"),
        ("genre", "G", "INFO"),
        ("artist", "A", "INFO"),
        ("ixyz", "?", "INFO"),
    }


# ---------------------------------------------------------------- damage around the chunks


@pytest.mark.parametrize(
    "stray",
    [bytes(8), b"\1\2\3\4\5\6\7\x08", b"abcd\0\0\0\0", b"abcd\xff\xff\xff\xff", b"LIST\xff\xff\xff\xff"],
)
def test_a_stray_chunk_does_not_hide_what_stands_behind_it(stray: bytes, tags) -> None:
    found = tags(wav(stray, info((b"ICMT", b"Door")), chunk(b"id3 ", id3((b"TIT2", "Title")))))
    assert {("description", "Door", "INFO"), ("title", "Title", "ID3")} <= found


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0x7FFFFFFF])
def test_text_behind_sound_of_unknown_size(size: int, description) -> None:
    data = riff(fmt(), chunk(b"data", pcm(16), size), info((b"ICMT", b"behind")))
    assert description(data) == "behind"


def test_text_behind_odd_sound_with_and_without_pad_byte(description) -> None:
    for pad in (b"\0", b"Q", None):
        sound = chunk(b"data", pcm(24)[:7203], pad=pad)
        assert description(riff(fmt(bits=24), sound, info((b"ICMT", b"x")))) == "x"


def test_one_broken_chunk_costs_one_value(tags) -> None:
    data = wav(
        chunk(b"id3 ", b"ID3\3\0\0\0\0\0\x7fTIT2\xff\xff\xff\xff\0\0"),
        chunk(b"iXML", b"<BWFXML><NOTE>rain</NOTE><SCENE>"),
        chunk(b"LIST", b"INFO\xff\xff"),
        info((b"INAM", b"Title")),
        before=[bext(b"Door")],
    )
    assert {("description", "Door", "bext"), ("title", "Title", "INFO"), ("comment", "rain", "iXML")} <= tags(
        data
    )


# ---------------------------------------------------------------- iXML


def test_ixml_of_recorders_and_librarians(tags) -> None:
    document = """<?xml version="1.0" encoding="UTF-8"?>
      <BWFXML><IXML_VERSION>1.5</IXML_VERSION><PROJECT>Film</PROJECT><SCENE>12A</SCENE><TAKE>3</TAKE>
      <NOTE>T&#252;r &amp; Tor</NOTE><BEXT><BWF_DESCRIPTION>A door</BWF_DESCRIPTION></BEXT>
      <USER><FXNAME>Door Slam</FXNAME><CATEGORY>DOORS</CATEGORY><SUBCATEGORY>WOOD</SUBCATEGORY>
      <CATID>DOORWood</CATID><KEYWORDS>slam, bang</KEYWORDS></USER></BWFXML>"""
    found = tags(wav(chunk(b"iXML", document.encode())))
    assert found == {
        ("project", "Film", "iXML"),
        ("scene", "12A", "iXML"),
        ("take", "3", "iXML"),
        ("comment", "Tür & Tor", "iXML"),
        ("description", "A door", "iXML"),
        ("title", "Door Slam", "iXML"),
        ("category", "DOORS", "iXML"),
        ("subcategory", "WOOD", "iXML"),
        ("catid", "DOORWood", "iXML"),
        ("keywords", "slam, bang", "iXML"),
    }


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_ixml_encodings(encoding: str, tags) -> None:
    raw = "<BWFXML><NOTE>Tür</NOTE></BWFXML>".encode(encoding)
    assert tags(wav(chunk(b"iXML", raw + bytes(5)))) == {("comment", "Tür", "iXML")}


def test_ixml_that_would_swell_is_not_expanded(tags) -> None:
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    bomb = f'<!DOCTYPE b [<!ENTITY e0 "boom">{entities}]><BWFXML><NOTE>&e9;</NOTE><TAKE>1</TAKE></BWFXML>'
    assert ("take", "1", "iXML") in tags(wav(chunk(b"iXML", bomb.encode())))


# ---------------------------------------------------------------- ID3 in chunks, AIFF


@pytest.mark.parametrize("name", [b"id3 ", b"ID3 "])
def test_id3_chunks(name: bytes, tags) -> None:
    frames = [(b"TIT2", "Door"), (b"TCON", "Foley"), (b"TPE1", "Someone")]
    expected = {("title", "Door", "ID3"), ("genre", "Foley", "ID3"), ("artist", "Someone", "ID3")}
    assert tags(wav(chunk(name, id3(*frames)))) == expected
    assert tags(wav(chunk(name, id3(*frames, version=4)))) == expected


def test_id3_behind_an_extended_header_and_glued_on(tags) -> None:
    plain = id3((b"TIT2", "Door"), version=4)
    extended = plain[:5] + b"\x40" + bytes(3) + bytes((plain[9] + 6,)) + b"\0\0\0\6\1\0" + plain[10:]
    assert tags(wav(chunk(b"id3 ", extended))) == {("title", "Door", "ID3")}
    assert tags(wav() + id3((b"TIT2", "Glued"))) == {("title", "Glued", "ID3")}


def test_id3_text_that_is_utf8_by_mistake(tags) -> None:
    mistaken = "Tür".encode().decode("latin-1")
    assert tags(wav(chunk(b"id3 ", id3((b"TIT2", mistaken))))) == {("title", "Tür", "ID3")}


def test_aiff_text(tags) -> None:
    data = aiff(
        aiff_chunk(b"NAME", b"Door"),
        comm(),
        aiff_chunk(b"ANNO", "T\u00fcr".encode("latin-1")),
        ssnd(pcm(16, order=">")),
        aiff_chunk(b"COMT", struct.pack(">HIHH", 1, 0, 0, 4) + b"slam"),
        aiff_chunk(b"ID3 ", id3((b"TIT2", "Door ID3"))),
    )
    assert tags(data, "a.aif") == {
        ("title", "Door", "AIFF"),
        ("description", "Tür", "AIFF"),
        ("comment", "slam", "AIFF"),
        ("title", "Door ID3", "ID3"),
    }


# ---------------------------------------------------------------- Vorbis comments


@pytest.mark.parametrize(
    "block",
    [
        (4, vorbis_comment("DESCRIPTION=Tür".encode("latin-1"), b"no equals sign", b"=no name")),
        (4, vorbis_comment("DESCRIPTION=Tür".encode()), 200_000),
        (4, vorbis_comment("DESCRIPTION=Tür".encode()), 3),
        (4, vorbis_comment("description=Tür".encode()) + bytes(50)),
        (4, vorbis_comment("DESCRIPTION=Tür".encode())[:9] + struct.pack("<I", 2**32 - 1)
            + vorbis_comment("DESCRIPTION=Tür".encode())[13:]),
        (4, b"\xff\xff\xff\xff" + vorbis_comment("DESCRIPTION=Tür".encode())[4:]),
    ],
    ids=["Latin-1", "too long", "too short", "padded", "countless", "no vendor"],
)  # fmt: skip
def test_flac_comments(block: tuple[int, bytes], description) -> None:
    assert description(flac(block), "a.flac") == "Tür"


def test_flac_comments_behind_id3_and_a_cover(tags) -> None:
    data = id3((b"TIT2", "From ID3"), total=1024)
    data += flac((6, bytes(300_000)), (4, vorbis_comment(b"TITLE=Door", b"GENRE=Foley")))
    assert tags(data, "a.flac") == {
        ("title", "From ID3", "ID3"),
        ("title", "Door", "Vorbis"),
        ("genre", "Foley", "Vorbis"),
    }


@pytest.mark.parametrize("subtype, mark", [("VORBIS", b"\3vorbis"), ("OPUS", b"OpusTags")])
def test_ogg_comments(subtype: str, mark: bytes, tags) -> None:
    """A comment packet of our own in place of libsndfile's, which is longer than one lacing value."""
    head, comments, *sound = ogg_pages(encoded(sweep(0.5, 48000), 48000, "OGG", subtype))
    packet = mark + vorbis_comment(b"TITLE=Door", "COMMENT=Tür".encode(), b"COVER=" + b"x" * 700)
    table = comments[27 : 27 + comments[26]]
    first = 0
    while table[first] == 255:
        first += 1
    rest_table, rest = table[first + 1 :], comments[27 + len(table) + sum(table[: first + 1]) :]
    lacing = bytes([255] * (len(packet) // 255) + [len(packet) % 255]) + rest_table
    page = sealed(comments[:26] + bytes((len(lacing),)) + lacing + packet + rest)
    data = head + page + b"".join(sound)
    assert tags(data, "a.ogg") == {("title", "Door", "Vorbis"), ("comment", "Tür", "Vorbis")}


# ---------------------------------------------------------------- other containers


def test_mp3_tags_of_all_ages(tags) -> None:
    sound = encoded(sweep(1, 44100), 44100, "MP3", "MPEG_LAYER_III")
    assert tags(id3((b"TIT2", "Door"), total=3072) + sound, "a.mp3") == {("title", "Door", "ID3")}
    version_1 = b"TAG" + b"Door".ljust(30, b"\0") + bytes(94) + b"\xff"
    assert tags(sound + version_1, "b.mp3") == {("title", "Door", "ID3")}
    assert tags(id3((b"TIT2", "Only a tag"), total=1024), "c.mp3") == {("title", "Only a tag", "ID3")}


@pytest.mark.parametrize(
    "name, container, codec, source",
    [("a.m4a", "ipod", "aac", "MP4"), ("a.wv", "wv", "wavpack", "APEv2"), ("a.oga", "ogg", "flac", "Vorbis")],
)
def test_tags_written_by_ffmpeg(name: str, container: str, codec: str, source: str, tmp_path: Path) -> None:
    path = tmp_path / name
    coded_by_ffmpeg(path, sweep(1, 44100), 44100, container, codec, title="Tür", genre="Foley")
    found = {(tag.field, tag.value, tag.source) for tag in read_tags(str(path))}
    assert {("title", "Tür", source), ("genre", "Foley", source)} <= found


def test_the_name_does_not_matter(tags) -> None:
    assert tags(wav(info((b"ICMT", b"Door"))), "a.mp3") == {("description", "Door", "INFO")}


# ---------------------------------------------------------------- choosing, and not failing


def test_best_believes_bext_before_info_before_id3() -> None:
    every = tuple(Tag("description", source, source) for source in reversed(SOURCES))
    for place, source in enumerate(SOURCES):
        rest = [tag for tag in every if SOURCES.index(tag.source) >= place]
        assert best(rest, "description") == source
    assert [s for s in SOURCES if s in ("bext", "INFO", "ID3")] == ["bext", "INFO", "ID3"]


def test_best_lets_comment_and_title_stand_in_for_a_description() -> None:
    title, comment = Tag("title", "Door", "bext"), Tag("comment", "a slam", "ID3")
    assert best([title, comment], "description") == "a slam"
    assert best([title], "description") == "Door"
    assert best([comment], "title") == ""
    assert best([], "description") == ""


def test_a_value_is_listed_once(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav(info((b"ICMT", b"Door"), (b"ICMT", b"Door")), info((b"ICMT", b"Door"))))
    assert read_tags(str(path)) == (Tag("description", "Door", "INFO"),)


@pytest.mark.parametrize("data", [b"", b"RIF", b"RIFF", bytes(5000), b"<html>", b"ID3\4\0\0\x7f\x7f\x7f\x7f"])
def test_what_is_no_sound_has_no_tags(data: bytes, tags) -> None:
    assert tags(data) == set()


def test_a_missing_file_has_no_tags(tmp_path: Path) -> None:
    assert read_tags(str(tmp_path / "gone.wav")) == ()
    assert read_tags(str(tmp_path)) == ()
    assert read_tags("nul\0.wav") == ()


def test_values_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    many = info(*[(b"ICMT", f"comment {n}".encode()) for n in range(3000)])
    path.write_bytes(wav(info((b"INAM", b"x" * 1_000_000)), many))
    found = read_tags(str(path))
    assert len(found) <= 500 and max(len(tag.value) for tag in found) <= 20_000


def test_a_4_gib_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    size = (1 << 32) + 1000
    with open(path, "wb") as file:
        file.write(riff(bext(b"Door"), fmt(), b"data" + struct.pack("<I", size & 0xFFFFFFFF)))
        file.seek(size, 1)
        file.write(info((b"INAM", b"behind")))
    assert {tag.value for tag in read_tags(str(path))} >= {"Door", "behind"}


@pytest.mark.parametrize(
    ("name", "container", "codec"),
    [
        ("a.mkv", "matroska", "aac"),
        ("a.avi", "avi", "ac3"),
        ("a.mov", "mov", "pcm_s16le"),
        ("a.m4a", "ipod", "aac"),
    ],
)
def test_words_of_video_containers_are_read(name: str, container: str, codec: str, tmp_path: Path) -> None:
    path = tmp_path / name
    coded_by_ffmpeg(path, sweep(0.3, 44100), 44100, container, codec, title="Tür", comment="creaks")
    tags = read_tags(str(path))
    assert best(tags, "title") == "Tür" and best(tags, "description") == "creaks"
    assert len({(tag.field, tag.value) for tag in tags}) == len(tags), "nothing is told twice"
