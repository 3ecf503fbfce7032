"""The gate that CI can use: a search that got worse fails ``evaluate --baseline``, another one passes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from job_support import run as run_job
from lab_library import index, make_golden, open_library, write_clips

from foley_desktop.cli import main
from foley_desktop.eval.golden import dump_golden, load_golden
from foley_desktop.settings import DataFolder, Settings

BROKEN = {"keyword": 0.0, "semantic": 0.0, "audio": 1.0}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("gate")
    service = open_library(folder / "data")
    index(service, write_clips(folder / "clips"))
    service.close()
    return folder / "data"


@pytest.fixture
def data(indexed, tmp_path) -> Path:
    shutil.copytree(indexed, tmp_path / "data")
    dump_golden(make_golden(), tmp_path / "golden.json")
    return tmp_path / "data"


@pytest.fixture
def evaluate(data, tmp_path, capsys):
    """Runs ``foley-desktop evaluate`` on the made-up golden set; gives exit code, stdout and stderr."""

    def call(*arguments: str, golden: str = "golden.json"):
        capsys.readouterr()
        code = main(["--library", str(data), "evaluate", str(tmp_path / golden), *arguments])
        return code, *capsys.readouterr()

    return call


def fuse_with(data: Path, weights: dict[str, float]) -> None:
    file = DataFolder(data).settings_file
    settings = Settings.load(file)
    settings.fusion_weights = weights
    settings.save(file)


def test_the_gate_opens_and_closes(evaluate, data, tmp_path):
    saved = str(tmp_path / "b.json")
    assert evaluate("--save", saved)[0] == 0
    code, out, err = evaluate("--baseline", saved)
    assert code == 0 and "+0.0000" in out and "differs" not in err

    fuse_with(data, BROKEN)
    code, out, err = evaluate("--baseline", saved)
    assert code == 1
    assert "The search has become worse than the baseline allows." in err
    assert "The fusion differs: weighted audio=0.2" in err
    assert "queries that fell most in ndcg@10 (8 fell)" in out.splitlines()

    fuse_with(data, {})
    assert evaluate("--baseline", saved)[0] == 0


def test_json_is_alone_on_stdout_also_when_the_gate_closes(evaluate, data, tmp_path):
    saved = str(tmp_path / "b.json")
    evaluate("--save", saved)
    fuse_with(data, BROKEN)
    code, out, err = evaluate("--baseline", saved, "--json")
    assert code == 1 and json.loads(out)["mode"] == "hybrid"
    assert "mean over 8 queries against the baseline" in err.splitlines()


def test_a_fall_within_the_tolerance_passes(evaluate, tmp_path):
    saved = tmp_path / "b.json"
    evaluate("--save", str(saved))
    document = json.loads(saved.read_text())
    now = document["report"]["mean"]["ndcg@10"]
    for higher, code in ((0.019, 0), (0.021, 1)):
        document["report"]["mean"]["ndcg@10"] = now + higher
        saved.write_text(json.dumps(document))
        assert evaluate("--baseline", str(saved))[0] == code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--mode", "keyword"), "measured in mode hybrid, this run in mode keyword"),
        (("-k", "5"), "measured at k = 10, this run at k = 5"),
    ],
)
def test_another_mode_or_cut_is_refused_before_anything_is_searched(evaluate, tmp_path, arguments, words):
    saved = str(tmp_path / "b.json")
    evaluate("--save", saved)
    code, out, err = evaluate("--baseline", saved, *arguments, "--trec", str(tmp_path / "trec"))
    assert code == 1 and words in err and out == ""
    assert not (tmp_path / "trec").exists()


def test_another_golden_set_is_refused_and_a_grown_one_is_not(evaluate, tmp_path):
    saved = str(tmp_path / "b.json")
    evaluate("--save", saved)
    document = json.loads((tmp_path / "golden.json").read_text())
    document["qrels"]["q001"]["forest/dog bark forest.wav"] = 1
    (tmp_path / "grown.json").write_text(json.dumps(document))
    code, _, err = evaluate("--baseline", saved, golden="grown.json")
    assert code == 1 and "another golden set" in err

    for name in ("golden.json", "grown.json"):
        document = json.loads((tmp_path / name).read_text()) | {"set_id": "5e7"}
        (tmp_path / name).write_text(json.dumps(document))
    evaluate("--save", saved)
    code, _, err = evaluate("--baseline", saved, golden="grown.json")
    assert code == 0 and "both are scored with today's judgements" in err


def test_the_gate_closes_on_a_grown_set_too(evaluate, data, tmp_path):
    document = json.loads((tmp_path / "golden.json").read_text()) | {"set_id": "5e7"}
    (tmp_path / "golden.json").write_text(json.dumps(document))
    saved = str(tmp_path / "b.json")
    evaluate("--save", saved)
    document["queries"].append({"id": "new", "text": "fire"})
    document["qrels"]["new"] = {"street/fire crackle street.wav": 2}
    (tmp_path / "golden.json").write_text(json.dumps(document))
    fuse_with(data, BROKEN)
    code, out, err = evaluate("--baseline", saved)
    assert code == 1 and "Queries that the baseline does not have are left out: 1." in err
    assert out.startswith("mean over 8 queries against the baseline")


def test_a_baseline_of_the_app_is_one_of_the_command_line(evaluate, data, tmp_path):
    service = open_library(data)
    info = service.lab.import_set(tmp_path / "golden.json").info
    report = run_job(service.lab.measure(info.id))
    saved = service.lab.baselines.save(report, "from the app")
    hybrid = next(one for one in saved if one.mode == "hybrid")
    service.lab.baselines.export_file(hybrid.id, tmp_path / "app.json")
    service.lab.export_set(info.id, tmp_path / "set.json", "path")
    service.close()
    assert load_golden(tmp_path / "set.json").set_id == info.id
    code, out, _ = evaluate("--baseline", str(tmp_path / "app.json"), golden="set.json")
    assert code == 0 and "+0.0000" in out
    fuse_with(data, BROKEN)
    assert evaluate("--baseline", str(tmp_path / "app.json"), golden="set.json")[0] == 1


@pytest.mark.slow
def test_the_gate_on_real_clips(shared_dir, tmp_path, capsys):
    """By the words of 719 clips; hashed words without BM25 stand for a search that broke."""
    corpus = shared_dir / "corpus"
    if not (corpus / "small").is_dir():
        pytest.skip("the real clips are not there")
    data = tmp_path / "data"
    service = open_library(data)
    for _ in service.index([corpus / "small"], audio=False):
        pass
    service.close()
    golden, saved = str(corpus / "small_golden.json"), str(tmp_path / "b.json")
    fuse_with(data, {"keyword": 1.0, "semantic": 0.1})

    def evaluate(*arguments: str) -> int:
        return main(["--library", str(data), "evaluate", golden, *arguments])

    assert evaluate("--mode", "keyword", "--save", str(tmp_path / "words.json")) == 0
    words = json.loads((tmp_path / "words.json").read_text())["report"]["mean"]["ndcg@10"]
    assert words > 0.4
    assert evaluate("--save", saved) == 0
    assert evaluate("--baseline", saved) == 0
    fuse_with(data, {"keyword": 0.0, "semantic": 1.0})
    assert evaluate("--baseline", saved) == 1
    assert "worse than the baseline allows" in capsys.readouterr().err
