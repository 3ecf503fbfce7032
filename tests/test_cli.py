"""The command line over a real library of made-up clips and the hash embedder: what scripts lean on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from foley_desktop.cli import main
from foley_desktop.index.protocols import Document
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.settings import DataFolder

HIT_KEYS = {
    *("rank", "id", "path", "name", "start_s", "end_s"),
    *("rrf_score", "clap_score", "bm25_score", "why"),
}
SHOW_KEYS = {
    *("id", "path", "name", "status", "reason", "badges", "duration_s", "frames", "samplerate"),
    *("channels", "format", "subtype", "title", "description", "category", "tags"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six clips, one of them silent, and three files that are no sound."""
    root = tmp_path_factory.mktemp("clips")
    rng = np.random.default_rng(5)
    for i, name in enumerate(
        ["animals/dog bark.wav", "animals/dog_growl.flac", "doors/Wooden Door Creak.wav", "rain 5.1.wav"]
    ):
        path = root / name
        path.parent.mkdir(exist_ok=True)
        rate = 48000 if i % 2 else 44100
        soundfile.write(path, 0.3 * rng.standard_normal((rate // 2 * (i + 1), 1 + i % 2)), rate)
    soundfile.write(root / "silence.wav", np.zeros(4800), 48000)
    soundfile.write(root / "deep thunder.wav", 0.2 * np.sin(np.arange(60000) / 60), 48000, subtype="PCM_24")
    (root / "empty.wav").write_bytes(b"")
    (root / "page.wav").write_text("<!doctype html><html><body>not found</body></html>")
    (root / "notes.txt").write_text("no audio name, ignored")
    return root


@pytest.fixture(scope="module")
def library(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("library")
    assert main(["--library", str(data), "index", str(folder), "--embedder", "hash"]) == 0
    return data


@pytest.fixture
def run(library: Path, capsys: pytest.CaptureFixture[str]):
    """Runs a command with ``--json``: exit code, document, stderr."""

    def call(*arguments: str, data: Path = library):
        capsys.readouterr()
        code = main(["--library", str(data), *arguments, "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out), err

    return call


def test_indexing_counts_and_names_what_it_refuses(folder, tmp_path, run):
    data = tmp_path / "fresh"
    code, first, _ = run("index", str(folder), "--embedder", "hash", data=data)
    assert code == 0
    assert (first["added"], first["updated"], first["unchanged"], first["missing"]) == (6, 0, 0, 0)
    reasons = {os.path.basename(entry["path"]): entry["reason"] for entry in first["rejected"]}
    assert reasons == {"empty.wav": "empty", "page.wav": "not_audio"}
    code, second, _ = run("index", str(folder), data=data)
    assert code == 0
    assert (second["added"], second["updated"], second["unchanged"]) == (0, 0, 6)
    assert second["rejected"] == first["rejected"]


def test_search_answers_in_every_mode(run):
    for mode in ("hybrid", "keyword", "semantic", "audio"):
        code, document, _ = run("search", "dog bark", "-k", "3", "--mode", mode)
        assert code == 0
        assert document["query"] == "dog bark" and document["mode"] == mode
        assert 0.0 <= document["answerable"] <= 1.0 and document["took_ms"] > 0.0
        assert [hit["rank"] for hit in document["hits"]] == list(range(1, len(document["hits"]) + 1))
        assert all(set(hit) == HIT_KEYS and os.path.isabs(hit["path"]) for hit in document["hits"])
        assert 1 <= len(document["hits"]) <= 3
        if mode != "audio":  # hashed sound has no meaning
            assert document["hits"][0]["name"] == "dog bark.wav"


def test_scores_stand_where_they_apply(run):
    _, keyword, _ = run("search", "dog bark", "--mode", "keyword")
    assert all(h["bm25_score"] > 0 and h["clap_score"] is None for h in keyword["hits"])
    _, audio, _ = run("search", "dog bark", "--mode", "audio")
    assert all(-1 <= h["clap_score"] <= 1 and h["bm25_score"] is None for h in audio["hits"])
    assert all(h["start_s"] == 0.0 and h["end_s"] > 0 for h in audio["hits"])
    _, hybrid, _ = run("search", "dog bark", "-k", "6")
    scores = [h["rrf_score"] for h in hybrid["hits"]]
    assert scores == sorted(scores, reverse=True) and None not in scores
    assert hybrid["hits"][0]["why"]["matched"] == {"bark": ["name"], "dog": ["name"]}


def test_filters_hold_for_every_ranker(run):
    _, short, _ = run("search", "dog", "-k", "9", "--where", "duration<0.6")
    assert {h["name"] for h in short["hits"]} <= {"dog bark.wav", "silence.wav"}
    _, both, _ = run("search", "door", "-k", "9", "--where", "channels=2", "--where", "rate>=48000")
    assert {h["name"] for h in both["hits"]} <= {"dog_growl.flac", "rain 5.1.wav"}


def test_exclusions_hold_for_every_ranker(run):
    _, document, _ = run("search", "dog -bark", "-k", "9")
    names = {h["name"] for h in document["hits"]}
    assert "dog_growl.flac" in names and "dog bark.wav" not in names


def test_similar_never_gives_the_clip_itself_and_takes_files_from_outside(run, folder, tmp_path):
    code, document, _ = run("similar", "animals/dog bark.wav", "-k", "4")
    assert code == 0 and len(document["hits"]) == 4
    assert "dog bark.wav" not in {h["name"] for h in document["hits"]}
    assert all(h["clap_score"] is not None and h["rrf_score"] is None for h in document["hits"])
    outside = tmp_path / "outside.wav"
    outside.write_bytes((folder / "animals/dog bark.wav").read_bytes())
    _, document, _ = run("similar", str(outside), "-k", "9")
    assert document["hits"][0]["name"] == "dog bark.wav"
    assert document["hits"][0]["clap_score"] == pytest.approx(1.0, abs=1e-4)
    assert len(document["hits"]) == 5  # all but the silent one
    code, document, _ = run("similar", "deep thunder.wav", "--start", "0.2", "--end", "0.9")
    assert code == 0 and document["hits"]


def test_similar_takes_several_sounds_and_words(run):
    given = ["animals/dog bark.wav", "animals/dog_growl.flac", "deep thunder.wav"]
    code, document, _ = run("similar", given[0], "--like", given[1], "--unlike", given[2], "-k", "9")
    assert code == 0 and {h["name"] for h in document["hits"]} == {"Wooden Door Creak.wav", "rain 5.1.wav"}
    code, document, _ = run("similar", given[0], "--words", "metallic", "--strength", "0.9", "-k", "9")
    assert code == 0 and len(document["hits"]) == 4
    assert all(h["why"]["audio"]["score"] is not None for h in document["hits"])
    code, document, _ = run("similar", given[0], "--words", "")
    assert code == 1 and "no words" in document["error"]


def test_balance_and_what_is_hidden_are_part_of_a_search(run):
    _, words, _ = run("search", "dog", "--balance", "0")
    _, sound, _ = run("search", "dog", "--balance", "1")
    assert words["hits"][0]["name"].startswith("dog")
    assert all(h["why"].get("keyword", {}).get("share") is None for h in sound["hits"])
    assert words["hidden_by_sound"] == 0, "hashed texts say nothing of sounds"
    code, document, _ = run("search", "dog -bark", "--show-hidden")
    assert code == 0 and "dog bark.wav" not in {h["name"] for h in document["hits"]}


def test_similar_to_silence_says_so(run):
    code, document, err = run("similar", "deep thunder.wav", "--start", "50", "--end", "51")
    assert code == 1 and document["error"] == "The region begins behind the clip's end at 1.250 s."
    code, document, err = run("similar", "silence.wav")
    assert code == 1 and "silent" in document["error"] and "Traceback" not in err


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    document = {
        "queries": [
            {"id": "q1", "text": "dog bark", "kind": "literal"},
            {"id": "q2", "text": "creaking door"},
            {"id": "q3", "text": "bagpipes", "kind": "none"},
        ],
        "qrels": {
            "q1": {"animals/dog bark.wav": 2, "animals/dog_growl.flac": 1},
            "q2": {"doors/Wooden Door Creak.wav": 2, "doors/not here.wav": 1},
            "q3": {},
        },
    }
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(document))
    return path


def test_evaluate_reports_saves_compares_and_writes_trec(run, golden, tmp_path):
    baseline, trec = tmp_path / "base.json", tmp_path / "trec"
    code, document, _ = run(
        "evaluate", str(golden), "--mode", "keyword", "--save", str(baseline), "--trec", str(trec)
    )
    assert code == 0
    report = document["report"]
    assert set(report) == {"k", "mean", "per_query", "ranks"} and report["k"] == 10
    assert set(report["per_query"]) == {"q1", "q2"}
    assert report["per_query"]["q1"]["ndcg@10"] == pytest.approx(1.0)
    assert report["per_query"]["q2"]["recall@10"] == pytest.approx(0.5)
    assert report["ranks"] == {"q1": 1, "q2": 1}
    assert document["unanswerable"] == ["q3"]
    assert document["unknown_clips"] == ["doors/not here.wav"]
    assert (trec / "qrels.txt").read_text().count("\n") == 4
    assert (trec / "run.txt").read_text().startswith("q1 Q0 ")
    code, _, err = run("evaluate", str(golden), "--mode", "keyword", "--baseline", str(baseline))
    assert code == 0 and "ndcg@10" in err
    code, document, _ = run("evaluate", str(golden), "--mode", "semantic", "--baseline", str(baseline))
    assert code == 1 and "keyword" in document["error"]


def test_evaluate_fails_below_the_floor_of_its_baseline(run, golden, tmp_path):
    baseline = tmp_path / "base.json"
    run("evaluate", str(golden), "--mode", "audio", "--save", str(baseline))
    document = json.loads(baseline.read_text())
    document["report"]["mean"]["ndcg@10"] = 1.0
    for values in document["report"]["per_query"].values():
        values["ndcg@10"] = 1.0
    baseline.write_text(json.dumps(document))
    code, _, err = run("evaluate", str(golden), "--mode", "audio", "--baseline", str(baseline))
    assert code == 1 and "worse" in err


def test_metrics_at_another_cut(run, golden):
    _, document, _ = run("evaluate", str(golden), "--mode", "keyword", "-k", "3")
    assert set(document["report"]["mean"]) == {"ndcg@3", "recall@3", "map@3", "mrr@3"}


def test_show_names_every_field_and_refused_files(run, folder):
    code, document, _ = run("show", str(folder / "deep thunder.wav"))
    assert code == 0 and set(document) >= SHOW_KEYS
    assert (document["frames"], document["samplerate"], document["channels"]) == (60000, 48000, 1)
    assert document["duration_s"] == pytest.approx(1.25) and document["subtype"] == "PCM_24"
    assert run("show", document["id"])[1]["path"] == document["path"]
    code, document, _ = run("show", "page.wav")
    assert code == 0 and (document["status"], document["reason"]) == ("rejected", "not_audio")
    code, document, err = run("show", "nowhere.wav")
    assert code == 1 and document["error"] and "Traceback" not in err


def test_export_without_options_is_the_source_bit_for_bit(run, folder, tmp_path):
    out = tmp_path / "out.wav"
    code, document, _ = run("export", "deep thunder.wav", str(out))
    assert code == 0 and document["frames"] == 60000
    mine, _ = soundfile.read(out, dtype="int32")
    theirs, _ = soundfile.read(folder / "deep thunder.wav", dtype="int32")
    assert np.array_equal(mine, theirs) and soundfile.info(out).subtype == "PCM_24"
    code, document, _ = run(
        "export", "deep thunder.wav", str(tmp_path / "p.wav"), "--start", "0.25", "--end", "0.5"
    )
    assert code == 0 and document["frames"] == 12000


@pytest.mark.parametrize(
    ("depth", "subtype"), [("16", "PCM_16"), ("24", "PCM_24"), ("32", "FLOAT"), ("float", "FLOAT")]
)
def test_every_depth_of_the_usage_can_be_exported(run, tmp_path, depth, subtype):
    code, document, _ = run("export", "deep thunder.wav", str(tmp_path / "o.wav"), "--depth", depth)
    assert (code, document.get("subtype")) == (0, subtype)


@pytest.mark.parametrize("options", [("-k", "3", "--mode", "keyword"), ("--where", "duration<5"), ("-k3",)])
def test_a_query_may_begin_with_an_exclusion(run, options):
    for words in (("-dog", *options), (*options, "-dog")):
        code, document, _ = run("search", *words)
        assert code == 0 and document["query"] == "-dog"
        names = [hit["name"] for hit in document["hits"]]
        assert names and not any("dog" in name for name in names)


def test_doctor_finds_and_mends_a_lost_index(folder, tmp_path, run):
    data = tmp_path / "sick"
    run("index", str(folder), "--embedder", "hash", data=data)
    _, before, _ = run("search", "dog", data=data)
    assert run("doctor", data=data)[1] == {
        "ok": True,
        "repaired": [],
        "warnings": [*run("doctor", data=data)[1]["warnings"]],
    }
    for part in (data / "keywords").rglob("*"):
        if part.is_file():
            part.unlink()
    code, document, _ = run("doctor", data=data)
    assert code == 0 and document["ok"] and document["repaired"]
    _, after, _ = run("search", "dog", data=data)
    assert [(h["id"], h["rrf_score"]) for h in after["hits"]] == [
        (h["id"], h["rrf_score"]) for h in before["hits"]
    ]
    code, document, _ = run("doctor", "--rebuild", data=data)
    assert code == 0 and document["ok"]
    _, after, _ = run("search", "dog", data=data)
    assert [(h["id"], h["rrf_score"]) for h in after["hits"]] == [
        (h["id"], h["rrf_score"]) for h in before["hits"]
    ]


def test_models_lists_the_embedders_and_the_active_one(run):
    code, document, _ = run("models")
    assert code == 0 and document["active"] == "hash"
    assert {"compact", "clap", "hash"} <= {model["name"] for model in document["models"]}
    assert all({"name", "model_id", "state"} <= set(model) for model in document["models"])
    code, document, _ = run("models", "use", "nonesuch")
    assert code == 1 and "nonesuch" in document["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["search", "x", "--mode", "loud"],
        ["search", "x", "-k", "0"],
        ["search", "x", "-k", "many"],
        ["search", "x", "--balance", "nan"],
        ["similar", "x", "--words", "y", "--strength", "5"],
        ["search", "x", "--where", "loudness>3"],
        ["search", "x", "--where", "duration<short"],
        ["frobnicate"],
        ["export", "x", "y", "--depth", "12"],
    ],
)
def test_wrong_usage_exits_2(library, arguments, capsys):
    try:
        code = main(["--library", str(library), *arguments])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert capsys.readouterr().err.strip()


def test_wrong_usage_has_its_json_document_like_every_failure(library, capsys):
    for arguments in (["search", "--json", "-k", "0", "x"], ["--json", "frobnicate"], ["export", "--json"]):
        assert main(["--library", str(library), *arguments]) == 2
        out, err = capsys.readouterr()
        document = json.loads(out)
        assert document["error"].endswith(".") and document["error"] in err and "usage:" in document["hint"]


def test_what_nobody_foresaw_is_one_sentence_too(library, monkeypatch, capsys):
    from foley_desktop.library.service import LibraryService

    def broken(*_, **__):
        raise NotADirectoryError(20, "Not a directory", "vectors")

    monkeypatch.setattr(LibraryService, "clip", broken)
    assert main(["--library", str(library), "show", "x", "--json"]) == 1
    out, err = capsys.readouterr()
    assert "Not a directory" in json.loads(out)["error"]
    assert len(err.strip().splitlines()) == 1 and "Traceback" not in err


def test_a_missing_folder_is_one_sentence(library, capsys):
    assert main(["--library", str(library), "index", "/no/such/folder"]) == 1
    err = capsys.readouterr().err
    assert "/no/such/folder" in err and "Traceback" not in err


@pytest.mark.parametrize(
    "query", ["", "   ", "(" * 10000, '"door', "-", "\0", "🚪", "x" * 1_000_000, "audio:(", "爆炸"]
)
def test_no_query_is_an_error(library, query, capsys):
    assert main(["--library", str(library), "search", query, "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_only_json_on_stdout_and_the_module_starts(library):
    command = [sys.executable, "-m", "foley_desktop", "--library", str(library), "--json", "search", "dog"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout)["hits"][0]["name"].startswith("dog")


def test_a_known_folder_that_is_away_makes_its_clips_offline_and_back(folder, tmp_path, run):
    data, moved = tmp_path / "data", tmp_path / "away"
    root = tmp_path / "root"
    shutil.copytree(folder, root)
    run("index", str(root), "--embedder", "hash", data=data)
    root.rename(moved)
    code, document, _ = run("index", str(root), data=data)
    assert code == 0 and document["missing"] == 0
    assert run("show", "rain 5.1.wav", data=data)[1]["status"] == "offline"
    moved.rename(root)
    code, document, _ = run("index", str(root), data=data)
    assert code == 0 and document["added"] == 0
    assert run("show", "rain 5.1.wav", data=data)[1]["status"] == "ok"


def test_a_library_that_was_not_listened_to_says_so(folder, tmp_path, run):
    data = tmp_path / "words only"
    code, document, _ = run("index", str(folder), "--embedder", "hash", "--no-audio", data=data)
    assert code == 0 and document["added"] == 6
    assert run("show", "rain 5.1.wav", data=data)[1]["frames"] == 96000
    code, document, err = run("search", "dog bark", data=data)
    assert code == 0 and document["hits"][0]["name"] == "dog bark.wav" and "rescan" in err
    code, document, err = run("search", "dog bark", "--mode", "audio", data=data)
    assert code == 0 and document["hits"] == [] and "rescan" in err
    run("index", str(folder), data=data)
    _, document, err = run("search", "dog bark", "--mode", "audio", data=data)
    assert document["hits"] and "rescan" not in err


def test_a_lost_keyword_index_is_said_and_the_meaning_still_answers(folder, tmp_path, run):
    data = tmp_path / "lost"
    run("index", str(folder), "--embedder", "hash", data=data)
    shutil.rmtree(data / "keywords")
    code, document, err = run("search", "dog bark", data=data)
    assert code == 0 and document["hits"][0]["name"] == "dog bark.wav" and "doctor" in err
    code, document, err = run("search", "dog bark", "--mode", "keyword", data=data)
    assert code == 0 and document["hits"] == [] and "doctor" in err
    run("doctor", data=data)
    assert "doctor" not in run("search", "dog bark", data=data)[2]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("keywords", "file"),
        ("vectors", "dangling link"),
        ("keywords", "link to a folder"),
        ("vectors", "link to a folder"),
    ],
)
def test_what_stands_in_place_of_an_index_is_put_aside_and_the_index_made_anew(
    folder, tmp_path, run, name, kind
):
    data = tmp_path / "displaced"
    run("index", str(folder), "--embedder", "hash", data=data)
    before = run("search", "dog bark", data=data)[1]["hits"]
    place, elsewhere = data / name, tmp_path / "elsewhere"
    shutil.rmtree(place)
    if kind == "file":
        place.write_text("somebody's notes")
    elif kind == "dangling link":
        place.symlink_to(tmp_path / "nowhere")
    else:
        elsewhere.mkdir()
        (elsewhere / "notes.txt").write_text("somebody's notes")
        place.symlink_to(elsewhere)
    code, document, _ = run("search", "dog bark", data=data)
    assert code == 0 and document["hits"][0]["name"] == "dog bark.wav", "the other half still answers"
    code, document, _ = run("doctor", data=data)
    assert code == 0 and document["ok"] and document["repaired"]
    after = run("search", "dog bark", data=data)[1]["hits"]
    assert [hit["id"] for hit in after] == [hit["id"] for hit in before]
    if kind == "file":
        assert (data / f"{name}.aside-1").read_text() == "somebody's notes"
    if kind == "link to a folder":
        run("doctor", "--rebuild", data=data)
        assert place.is_symlink() and (elsewhere / "notes.txt").read_text() == "somebody's notes"
        assert [hit["id"] for hit in run("search", "dog bark", data=data)[1]["hits"]] == [
            hit["id"] for hit in before
        ]


def test_an_index_run_mends_a_file_in_place_of_an_index_too(folder, tmp_path, run):
    data = tmp_path / "displaced"
    run("index", str(folder), "--embedder", "hash", data=data)
    shutil.rmtree(data / "vectors")
    (data / "vectors").write_text("x")
    code, _, err = run("index", str(folder), "--embedder", "hash", data=data)
    assert code == 0 and "put aside as vectors.aside-1" in err
    assert run("search", "dog bark", "--mode", "semantic", data=data)[1]["hits"]


def test_an_export_that_cannot_keep_everything_says_so(run, tmp_path):
    samples = np.array([0.1, 1.5, -0.3] * 1000, np.float32)
    soundfile.write(tmp_path / "float.wav", samples, 48000, subtype="FLOAT")
    soundfile.write(tmp_path / "whole.wav", samples * 0.5, 48000, subtype="PCM_16")
    source = str(tmp_path / "float.wav")
    code, document, err = run("export", source, str(tmp_path / "a.flac"))
    assert code == 0 and document["subtype"] == "PCM_24"
    assert "rounded to 24 bit" in document["notices"][0] and document["notices"][0] in err
    assert "lossy" in run("export", source, str(tmp_path / "a.ogg"))[1]["notices"][0]
    assert run("export", source, str(tmp_path / "a.wav"))[1]["notices"] == []
    assert run("export", source, str(tmp_path / "b.flac"), "--depth", "16")[1]["notices"] == []
    assert run("export", str(tmp_path / "whole.wav"), str(tmp_path / "c.flac"))[1]["notices"] == []


def test_sound_that_is_being_listened_to_is_told_from_sound_that_is_not(folder, tmp_path, run):
    data = tmp_path / "unheard"
    run("index", str(folder), "--embedder", "hash", "--no-audio", data=data)
    assert "rescan" in run("search", "dog bark", data=data)[2]
    with writer_lock(DataFolder(data)):
        err = run("search", "dog bark", data=data)[2]
    assert "being listened to" in err and "rescan" not in err


def test_names_from_before_utf8_are_found_by_their_letters(tmp_path, run):
    folder = tmp_path / "old"
    folder.mkdir()
    soundfile.write(tmp_path / "x.wav", np.random.default_rng(1).uniform(-0.5, 0.5, 4800), 48000)
    for raw in (b"caf\xe9 T\xfcr.wav", b"\x93quoted\x94 na\xefve.wav"):
        shutil.copy(tmp_path / "x.wav", os.path.join(os.fsencode(folder), raw))
    data = tmp_path / "data"
    assert run("index", str(folder), "--embedder", "hash", data=data)[1]["added"] == 2
    for query in ("cafe", "café", "tur", "Tür"):
        hits = run("search", query, "--mode", "keyword", data=data)[1]["hits"]
        assert [os.fsencode(hit["name"]) for hit in hits] == [b"caf\xe9 T\xfcr.wav"], query
    assert len(run("search", "naive quoted", "--mode", "keyword", data=data)[1]["hits"]) == 1


def test_a_keyword_index_of_older_documents_is_made_anew_by_itself(folder, tmp_path, run, monkeypatch):
    def without_names(clip, tags=()):
        return Document(clip_id=clip.id, name="nothing")

    data = tmp_path / "older"
    with monkeypatch.context() as patch:
        patch.setattr("foley_desktop.library.text.DOCUMENT_VERSION", "1")
        patch.setattr("foley_desktop.library.catalog_clips.keyword_document", without_names)
        run("index", str(folder), "--embedder", "hash", "--no-audio", data=data)
        assert run("search", "bark", "--mode", "keyword", data=data)[1]["hits"] == []
    assert run("index", str(folder), "--embedder", "hash", "--no-audio", data=data)[1]["added"] == 0
    assert run("search", "bark", "--mode", "keyword", data=data)[1]["hits"]
