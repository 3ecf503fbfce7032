"""Every place in which somebody may have written a word: it is read, under its source, and can be found."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from pathlib import Path

import av
import mutagen.apev2
import mutagen.flac
import mutagen.id3
import mutagen.mp4
import numpy as np
import pytest
import soundfile
from audio_files import TONE, aiff, aiff_chunk, bext, chunk, comm, fmt, id3, info, pcm, riff, ssnd, wav

from foley_desktop.audio.decode import probe
from foley_desktop.audio.tags import read_tags
from foley_desktop.audio.tagwriter import write_tags
from foley_desktop.errors import TagWriteError
from foley_desktop.library.effective import effective
from foley_desktop.library.text import keyword_document
from foley_desktop.models import Clip, Tag

Found = set[tuple[str, str, str]]

RECORDER = """<?xml version="1.0" encoding="{}"?><BWFXML><IXML_VERSION>2.10</IXML_VERSION><SCENE>12Ä</SCENE>
<SPEED><MASTER_SPEED>24000/1001</MASTER_SPEED><TIMECODE_RATE>25/1</TIMECODE_RATE></SPEED>
<TRACK_LIST><TRACK_COUNT>2</TRACK_COUNT><TRACK><CHANNEL_INDEX>1</CHANNEL_INDEX><NAME>Boom</NAME></TRACK>
<TRACK><CHANNEL_INDEX>2</CHANNEL_INDEX><NAME>Lav Änna</NAME></TRACK></TRACK_LIST>
<LOCATION><LOCATION_NAME>Cellar</LOCATION_NAME></LOCATION><USER>free words</USER></BWFXML>"""
RECORDED = {
    ("scene", "12Ä", "iXML"),
    ("master speed", "24000/1001", "iXML"),
    ("timecode rate", "25/1", "iXML"),
    ("track name", "Boom", "iXML"),
    ("track name", "Lav Änna", "iXML"),
    ("location", "Cellar", "iXML"),
    ("user", "free words", "iXML"),
}


def tags(path: Path) -> Found:
    return {(tag.field, tag.value, tag.source) for tag in read_tags(str(path))}


def tags_of(tmp_path: Path, data: bytes, name: str = "a.wav") -> Found:
    path = tmp_path / name
    path.write_bytes(data)
    return tags(path)


def measured_bext(version: int, umid: bytes = b"", loudness: Iterable[int] = (0,) * 5) -> bytes:
    body = bytearray(bext(b"Door")[8:])
    struct.pack_into("<H", body, 346, version)
    body[348 : 348 + len(umid)] = umid
    struct.pack_into("<5h", body, 412, *loudness)
    return chunk(b"bext", bytes(body))


def test_bext_gives_its_umid_and_its_loudness(tmp_path: Path) -> None:
    umid = bytes(range(1, 33))
    found = tags_of(tmp_path, wav(measured_bext(2, umid, (-2310, 850, -120, 0x7FFF, -2000))))
    assert ("umid", umid.hex(), "bext") in found
    assert {value for field, value, _ in found if "loudness" in field} == {
        "-23.1 LUFS",
        "8.5 LU",
        "-20 LUFS",
    }
    assert ("true peak", "-1.2 dBTP", "bext") in found
    # What an older version has there is reserved, and says nothing.
    older = tags_of(tmp_path, wav(measured_bext(0, umid, (-2310, 1, 1, 1, 1))))
    assert {field for field, *_ in older} == {"description", "time_reference"}


def test_the_time_of_a_big_endian_file_is_read_as_such(tmp_path: Path) -> None:
    body = b"Door".ljust(338, b"\0") + struct.pack(">QH", (1 << 33) + 1, 1)
    sound = aiff_chunk(b"fmt ", struct.pack(">HHIIHH", 1, 1, 48000, 96000, 2, 16))
    chunks = aiff_chunk(b"bext", body.ljust(602, b"\0")) + sound + aiff_chunk(b"data", pcm(16, order=">"))
    data = b"RIFX" + struct.pack(">I", 4 + len(chunks)) + b"WAVE" + chunks
    assert ("time_reference", str((1 << 33) + 1), "bext") in tags_of(tmp_path, data)


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8-sig", b""),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("latin-1", b""),
    ],
)
@pytest.mark.parametrize("behind", [b"", bytes(14)])
def test_track_names_speed_and_free_words_of_ixml(
    tmp_path: Path, encoding: str, mark: bytes, behind: bytes
) -> None:
    document = RECORDER.format(encoding.removesuffix("-sig"))
    assert tags_of(tmp_path, wav(chunk(b"iXML", mark + document.encode(encoding) + behind))) == RECORDED


def test_ixml_that_is_broken_gives_the_same_as_far_as_it_goes(tmp_path: Path) -> None:
    document = RECORDER.format("UTF-8").replace("free words", "Tom & Jerry").encode()
    expected = {tag for tag in RECORDED if tag[0] != "user"} | {("user", "Tom & Jerry", "iXML")}
    assert tags_of(tmp_path, wav(chunk(b"iXML", document))) == expected
    assert tags_of(tmp_path, wav(chunk(b"iXML", document + b"\0left over \xff\xfe"))) == expected
    cut = document[: document.index(b"<LOCATION>") + 20]
    assert tags_of(tmp_path, wav(chunk(b"iXML", cut))) == {
        tag for tag in expected if tag[0] not in ("user", "location")
    }


def test_elements_that_nobody_has_heard_of_keep_their_names(tmp_path: Path) -> None:
    document = b"""<BWFXML><ASWG><originator>Ann</originator><characterName>Gandolf</characterName></ASWG>
      <USER><CUSTOM_THING>Flurble</CUSTOM_THING></USER><STEINBERG><ATTR_LIST><ATTR><TYPE>string</TYPE>
      <NAME>MediaLibrary</NAME><VALUE>Big One</VALUE></ATTR></ATTR_LIST></STEINBERG></BWFXML>"""
    assert tags_of(tmp_path, wav(chunk(b"iXML", document))) == {
        ("originator", "Ann", "iXML"),
        ("charactername", "Gandolf", "iXML"),
        ("custom thing", "Flurble", "iXML"),
        ("medialibrary", "Big One", "iXML"),
    }


XMP = b"""<?xpacket begin="\xef\xbb\xbf"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmpDM="http://ns.adobe.com/xmp/1.0/DynamicMedia/"
 xmpDM:scene="44B"><dc:title><rdf:Alt><rdf:li>Gate</rdf:li></rdf:Alt></dc:title><dc:subject><rdf:Bag>
 <rdf:li>iron</rdf:li><rdf:li>rust</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>"""


def test_chunks_of_other_programs_are_read(tmp_path: Path) -> None:
    texts = (b"0101", *(name.ljust(64, b"\0") for name in (b"Jingle", b"Ann", b"C7", b"", b"News", b"")))
    found = tags_of(
        tmp_path,
        wav(
            chunk(b"DISP", b"\1\0\0\0Shown\0"),
            chunk(b"DISP", b"\x08\0\0\0a picture"),
            chunk(b"cart", b"".join(texts).ljust(2048, b"\0")),
            chunk(b"_PMX", XMP),
            chunk(b"SMED", b"\1\2\0<SM><Description>mined</Description></SM>\0\0"),
            chunk(b"SMED", bytes(range(200))),
        ),
    )
    assert found == {
        ("title", "Shown", "DISP"),
        ("title", "Jingle", "cart"),
        ("artist", "Ann", "cart"),
        ("cut", "C7", "cart"),
        ("category", "News", "cart"),
        ("title", "Gate", "XMP"),
        ("scene", "44B", "XMP"),
        ("keywords", "iron", "XMP"),
        ("keywords", "rust", "XMP"),
        ("description", "mined", "Soundminer"),
    }


def test_what_is_never_written_does_not_stand_against_what_is(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav(chunk(b"_PMX", XMP)))
    assert effective(read_tags(str(path)))["keywords"] == "iron, rust"
    changes = {"keywords": "new, words", "title": "Portal"}
    assert write_tags(str(path), changes).changed
    found = read_tags(str(path))
    assert (effective(found)["keywords"], effective(found)["title"]) == ("new, words", "Portal")
    assert Tag("title", "Gate", "XMP") in found
    assert not write_tags(str(path), changes).changed


def test_names_of_markers_are_labels_too(tmp_path: Path) -> None:
    items = chunk(b"labl", b"\1\0\0\0Latch\0") + chunk(b"note", b"\1\0\0\0a bit late")
    items += chunk(b"ltxt", struct.pack("<II4sHHHH", 1, 9, b"rgn ", 0, 0, 0, 0) + "Süd".encode("latin-1"))
    assert tags_of(tmp_path, wav(chunk(b"LIST", b"adtl" + items))) == {
        ("marker", "Latch", "cue"),
        ("marker", "a bit late", "cue"),
        ("marker", "Süd", "cue"),
    }
    mark = struct.pack(">HHIB", 1, 1, 10, 3) + b"Hit"
    data = aiff(comm(), aiff_chunk(b"MARK", mark), ssnd(pcm(16, order=">")))
    assert tags_of(tmp_path, data, "a.aif") == {("marker", "Hit", "cue")}


def id3_of(version: int, encoding: int) -> bytes:
    tag = mutagen.id3.ID3()
    tag.add(mutagen.id3.TIT2(encoding=encoding, text=["Tür"]))
    tag.add(mutagen.id3.TPE2(encoding=encoding, text=["The Band"]))
    tag.add(mutagen.id3.TMOO(encoding=encoding, text=["eerie"]))
    tag.add(mutagen.id3.USLT(encoding=encoding, lang="eng", text="la la"))
    tag.add(mutagen.id3.TXXX(encoding=encoding, desc="Shelf_Mark", text=["B 7"]))
    tag.add(mutagen.id3.TXXX(encoding=encoding, desc="replaygain_track_gain", text=["-3.2 dB"]))
    target = io.BytesIO()
    tag.save(target, v1=0, v2_version=version)
    return target.getvalue()


@pytest.mark.parametrize(("version", "encoding"), [(3, 0), (3, 1), (4, 0), (4, 1), (4, 2), (4, 3)])
def test_id3_in_every_encoding_with_frames_of_ones_own(tmp_path: Path, version: int, encoding: int) -> None:
    expected = {
        ("title", "Tür", "ID3"),
        ("band", "The Band", "ID3"),
        ("mood", "eerie", "ID3"),
        ("lyrics", "la la", "ID3"),
        ("shelf mark", "B 7", "ID3"),
    }
    tag = id3_of(version, encoding)
    assert tags_of(tmp_path, wav(chunk(b"id3 ", tag))) == expected
    data = aiff(comm(), ssnd(pcm(16, order=">")), aiff_chunk(b"ID3 ", tag))
    assert tags_of(tmp_path, data, "a.aif") == expected


def test_an_id3_chunk_that_promises_more_than_it_has(tmp_path: Path) -> None:
    tag = bytearray(id3((b"TIT2", "Door")))
    tag[6:10] = b"\0\0\x64\0"
    found = tags_of(tmp_path, wav(chunk(b"id3 ", bytes(tag)), bext(b"Good")))
    assert {("title", "Door", "ID3"), ("description", "Good", "bext")} <= found


def test_free_names_in_vorbis_comments_apev2_and_mp4(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    soundfile.write(path, TONE, 48000)
    sound = mutagen.flac.FLAC(path)
    sound.update({"SHELF_MARK": ["B 7", "B 8"], "creator": "Ann", "COVERART": "x" * 500, "blob": "x" * 500})
    sound.save()
    shelf = {("shelf mark", "B 7", "Vorbis"), ("shelf mark", "B 8", "Vorbis")}
    found = tags(path)
    assert {tag for tag in found if tag[0] != "encoder"} == shelf | {("creator", "Ann", "Vorbis")}
    # A name that is one of ours is written anew where it stands, so that no old value survives.
    write_tags(str(path), {"creator": "Bob"})
    assert {value for field, value, _ in tags(path) if field == "creator"} == {"Bob"}

    path = tmp_path / "a.mp3"
    soundfile.write(path, np.tile(TONE, 4), 48000)
    ape = mutagen.apev2.APEv2()
    ape["Shelf Mark"] = "B 9"
    ape.save(path)
    assert ("shelf mark", "B 9", "APEv2") in tags(path)

    path = tmp_path / "a.m4a"
    with av.open(str(path), "w", format="ipod") as container:
        stream = container.add_stream("aac", rate=48000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 48000
        container.mux([*stream.encode(frame), *stream.encode(None)])
    movie = mutagen.mp4.MP4(path)
    movie["\xa9wrt"] = "Ann"
    movie["----:com.apple.iTunes:KEYWORDS"] = ["düster".encode()]
    movie.save()
    assert {("designer", "Ann", "MP4"), ("keywords", "düster", "MP4")} <= tags(path)


def test_a_chunk_that_is_longer_than_it_says_hides_none_behind_it(tmp_path: Path) -> None:
    data = wav(chunk(b"zzzz", b"abcdefgh", size=3), bext(b"Good"), info((b"INAM", b"Title")))
    found = tags_of(tmp_path, data)
    assert {("description", "Good", "bext"), ("title", "Title", "INFO")} <= found


def test_a_chunk_that_swallows_the_format_and_the_sound_costs_neither(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    greedy = chunk(b"bext", b"Door".ljust(602, b"\0"), size=700)
    path.write_bytes(riff(greedy, fmt(), chunk(b"data", pcm(16))))
    heard = probe(str(path))
    assert (heard.info.frames, heard.info.samplerate, round(heard.peak, 3)) == (2400, 48000, 0.5)
    assert ("description", "Door", "bext") in tags(path)
    with pytest.raises(TagWriteError):
        write_tags(str(path), {"title": "x"})


def test_conflicting_values_all_stand_there(tmp_path: Path) -> None:
    document = b"<BWFXML><USER><DESCRIPTION>four</DESCRIPTION></USER></BWFXML>"
    chunks = (info((b"ICMT", b"two")), info((b"ICMT", b"three")), chunk(b"iXML", document), bext(b"five"))
    data = riff(bext(b"one"), fmt(), chunk(b"data", pcm(16)), *chunks)
    assert {tag for tag in tags_of(tmp_path, data) if tag[0] == "description"} == {
        ("description", "one", "bext"),
        ("description", "two", "INFO"),
        ("description", "three", "INFO"),
        ("description", "four", "iXML"),
        ("description", "five", "bext"),
    }


def test_labels_of_any_name_are_searched_and_measures_are_not() -> None:
    clip = Clip(id="1", path="/a/b.wav", rel_path="b.wav", root_id=1, name="b.wav")
    said = [
        Tag("track name", "Boom", "iXML"),
        Tag("marker", "Latch", "cue"),
        Tag("shelf mark", "B 7", "ID3"),
        Tag("loudness", "-23.1 LUFS", "bext"),
        Tag("date", "2024-01-01", "bext"),
    ]
    assert keyword_document(clip, said).description == "Boom Latch B 7"


# ---------------------------------------------------------------- written to


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("utf-16-le", b"\xff\xfe"),
        ("iso-8859-1", b""),
        ("windows-1252", b""),
    ],
)
@pytest.mark.parametrize("behind", [b"", b"\0\0", b"\0left over\0"])
def test_ixml_of_every_encoding_is_edited_where_it_stands(
    tmp_path: Path, encoding: str, mark: bytes, behind: bytes
) -> None:
    if "utf-16" in encoding and behind.strip(b"\0"):
        behind = b""
    document = RECORDER.format(encoding).replace("<SPEED>", "<NOTE>old</NOTE><SPEED><NOTE>slow</NOTE>")
    path = tmp_path / "a.wav"
    path.write_bytes(wav(chunk(b"iXML", mark + document.encode(encoding) + behind)))
    before = tags(path)
    changes = {"comment": "neu & 雷", "mood": "dark", "scene": "99"}
    assert write_tags(str(path), changes).notes == ()
    after = tags(path)
    untouched = {tag for tag in before if tag[0] not in changes}
    assert untouched | {("speed note", "slow", "iXML")} <= after
    for field, value in changes.items():
        assert {found for name, found, _ in after if name == field} == {value}
    assert not write_tags(str(path), changes).changed


def test_a_text_chunk_that_cannot_be_edited_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav(chunk(b"iXML", b"<BWFXML><NOTE>a & b</NOTE></BWFXML>")))
    assert write_tags(str(path), {"comment": "new"}).notes == (
        "The iXML chunk is damaged and stays as it is.",
    )
    assert {("comment", "a & b", "iXML"), ("comment", "new", "ID3")} <= tags(path)


def test_an_id3_chunk_that_promises_too_much_is_put_right(tmp_path: Path) -> None:
    tag = bytearray(id3((b"TIT2", "Door"), (b"TALB", "Doors")))
    tag[6:10] = b"\0\0\x64\0"
    path = tmp_path / "a.wav"
    path.write_bytes(wav(chunk(b"id3 ", bytes(tag))))
    write_tags(str(path), {"title": "Gate"})
    assert {value for field, value, _ in tags(path) if field == "title"} == {"Gate"}
    assert ("album", "Doors", "ID3") in tags(path)


def test_a_description_in_apev2_leaves_the_comment_alone_that_is_set_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    soundfile.write(path, np.tile(TONE, 4), 48000)
    ape = mutagen.apev2.APEv2()
    ape["Comment"] = "old"
    ape.save(path)
    write_tags(str(path), {"description": "a door", "comment": "a note"})
    assert ("comment", "a note", "APEv2") in tags(path)
    assert "old" not in {value for _, value, _ in tags(path)}
