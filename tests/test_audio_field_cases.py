"""The files of the field cases: what broke other people's sound tools must not break ours."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from foley_desktop.audio import decode
from foley_desktop.audio.tags import best, read_tags
from foley_desktop.errors import AudioFileError


@pytest.fixture(scope="module")
def cases(shared_dir: Path) -> dict[str, dict]:
    folder = shared_dir / "field_cases"
    cases = json.loads((folder / "expected.json").read_text("utf-8"))
    assert cases, "the list of field cases is empty"
    return {name: case | {"path": str(folder / "files" / case["file"])} for name, case in cases.items()}


def check_playable(case: dict) -> list[str]:
    """What is wrong about a file that ought to play."""
    probe = decode.probe(case["path"])
    wrong = []
    if abs(probe.info.frames - case["frames"]) > case["frame_tolerance"]:
        wrong.append(f"{probe.info.frames} frames")
    if (probe.info.samplerate, probe.info.channels) != (case["samplerate"], case["channels"]):
        wrong.append(f"{probe.info.samplerate} Hz, {probe.info.channels} channels")
    if case["peak"] is not None and abs(probe.peak - case["peak"]) > 0.01:
        wrong.append(f"peak {probe.peak}")
    if case["warn"] and case["warn"] not in probe.badges:
        wrong.append(f"badges {probe.badges}")
    if case["description"] and (found := best(read_tags(case["path"]), "description")) != case["description"]:
        wrong.append(f"description {found!r}")
    return wrong


def check_refused(case: dict) -> list[str]:
    try:
        decode.probe(case["path"])
    except AudioFileError as error:
        return [] if error.reason == case["reason"] else [f"reason {error.reason}"]
    return ["it plays"]


def test_every_file_is_played_or_refused_as_it_should(cases: dict[str, dict]) -> None:
    wrong = {}
    for name, case in cases.items():
        try:
            found = check_playable(case) if case["expect"] == "playable" else check_refused(case)
        except Exception as error:
            found = [repr(error)]
        if found:
            wrong[f"{name} ({case['about']})"] = found
    assert not wrong, "\n".join(f"{name}: {', '.join(found)}" for name, found in wrong.items())


def test_every_playable_file_seeks_exactly(cases: dict[str, dict]) -> None:
    for name, case in cases.items():
        if case["expect"] != "playable":
            continue
        whole, _ = decode.read_frames(case["path"], 0, 10**6)
        with decode.open_audio(case["path"]) as reader:
            for place in (len(whole) * 3 // 4, len(whole) // 3, max(0, len(whole) - 2), 0):
                reader.seek(place)
                got = reader.read(500)
                expected = whole[place : place + 500]
                assert got.shape == expected.shape, name
                np.testing.assert_allclose(got, expected, atol=1e-6, err_msg=name)


def test_reading_tags_of_any_file_never_raises(cases: dict[str, dict]) -> None:
    for case in cases.values():
        read_tags(case["path"])
