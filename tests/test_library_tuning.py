"""Tuning the fusion: the same ranking as the search's own, an honest gain, and a way back."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from job_support import run_with_steps as finish
from lab_library import PLACES, index, open_library, pairs, write_clips

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.index.search import SCORE_WEIGHTS
from foley_desktop.library.fusing import Fusion
from foley_desktop.library.rankers import RANKERS
from foley_desktop.library.tuning import DEPTHS, FOLDS, _collect, _tops, refuse_too_few
from foley_desktop.settings import Settings

BROKEN = {"keyword": 0.0, "semantic": 0.0, "audio": 1.0}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuning")
    service = open_library(folder / "data")
    index(service, write_clips(folder / "clips"))
    yield service
    service.close()


@pytest.fixture
def service(library):
    """The library with the fusion that it comes with."""
    for name in ("fusion", "fusion_weights", "fusion_depth", "fusion_before"):
        setattr(library.settings, name, getattr(Settings(), name))
    library.settings.save(library.data.settings_file)
    return library


def named_clips() -> dict[str, str]:
    """24 queries, one for each clip, and the clip's path."""
    return {
        f"{doing} {place}": f"{place}/{thing} {doing} {place}.wav"
        for thing, doing in pairs()
        for place in PLACES
    }


def golden(answers: dict[str, str]) -> GoldenSet:
    queries = tuple(GoldenQuery(f"q{n:03}", text) for n, text in enumerate(answers))
    return GoldenSet("t", queries, {query.id: {answers[query.text]: 2} for query in queries})


@pytest.fixture(scope="module")
def tuned(library):
    """What tuning says about 24 queries of which each names its clip, while the fusion is broken."""
    set_id = library.lab.sets.add(golden(named_clips()), any_name=True).id
    library.settings.fusion_weights = dict(BROKEN)
    return set_id, *finish(library.lab.tune(set_id))


# --- the same ranking


@pytest.mark.parametrize(
    "query", ["dog bark", "kitchen", "heavy rain street -forest", '"bell ring"', "zebra"]
)
@pytest.mark.parametrize(
    "weights",
    [
        dict(SCORE_WEIGHTS),
        {"keyword": 0.35, "semantic": 0.0, "audio": 0.65},
        {"keyword": 1.0, "semantic": 0.0, "audio": 0.0},
        BROKEN,
    ],
)
def test_candidates_are_ranked_as_the_search_ranks_them(service, query, weights):
    service.settings.fusion_weights = dict(weights)
    table = _collect(service.searcher, query, {}, 500)
    row_weights = np.array([[weights[name] for name in RANKERS], [0.0, 0.0, 1.0]])
    ours = [table.ids[row] for row in _tops(table, row_weights, 100, 100)[0] if row >= 0]
    assert ours == [hit.id for hit in service.search(query, k=100).hits]
    assert ours or query == "zebra"


def test_a_query_that_only_excludes_is_not_fused(service):
    assert _collect(service.searcher, "-dog", {}, 500) is None


def test_a_shallower_depth_leaves_candidates_out(service):
    table = _collect(service.searcher, "dog bark", {}, 500)
    weights = np.ones((1, 3))
    few, all_of_them = (np.sum(_tops(table, weights, depth, 50) >= 0) for depth in (3, 50))
    assert 3 <= few < all_of_them == 24


# --- what is found


def test_a_broken_fusion_is_mended_and_the_gain_holds_on_queries_that_had_no_say(tuned):
    _, tuning, steps = tuned
    assert tuning.queries == 24 and tuning.before.weights == BROKEN and len(tuning.folds) == FOLDS
    assert tuning.worthwhile and tuning.held_out.difference > 0.3
    assert 0.0 < tuning.held_out.low <= tuning.held_out.difference <= tuning.held_out.high
    assert tuning.training >= tuning.held_out.difference
    assert tuning.fusion.weights["audio"] < 0.5 and tuning.fusion.depth in DEPTHS
    assert sum(tuning.fusion.weights.values()) == pytest.approx(1.0)
    assert tuning.sentence().startswith("Held-out gain +0.") and "on 24 queries." in tuning.sentence()
    assert [step.done for step in steps[1:]] == list(range(48))


def test_the_same_library_and_set_give_the_same_tuning(service, tuned):
    set_id, tuning, _ = tuned
    service.settings.fusion_weights = dict(BROKEN)
    assert finish(service.lab.tune(set_id))[0] == tuning


def test_answers_at_random_teach_nothing(service):
    """Weights can be fitted to anything; on queries that had no say the gain has to vanish."""
    clips = list(named_clips().values())
    texts = list(named_clips())
    random.Random(4).shuffle(clips)
    random.Random(5).shuffle(texts)
    answers = dict(zip(texts, clips, strict=True)) | {"-dog": clips[0]}
    set_id = service.lab.sets.add(golden(answers), any_name=True).id
    tuning, _ = finish(service.lab.tune(set_id))
    assert tuning.training > 0.0
    assert tuning.held_out.difference < tuning.training
    assert not tuning.worthwhile and "may be chance" in tuning.sentence()


def test_the_best_fusion_is_not_replaced_by_an_equal_one(service, tuned):
    set_id, tuning, _ = tuned
    service.settings.fusion_weights = dict(tuning.fusion.weights)
    service.settings.fusion_depth = tuning.fusion.depth
    again, _ = finish(service.lab.tune(set_id))
    assert again.fusion == again.before == tuning.fusion
    assert again.training == 0.0 and again.held_out.difference <= 0.0 and not again.worthwhile
    assert again.sentence().startswith("The fusion in use is the best there is")


def test_rank_fusion_can_be_tuned_away_from(service, tuned):
    service.settings.fusion = "rrf"
    tuning, _ = finish(service.lab.tune(tuned[0]))
    assert tuning.before.name == "rrf" and tuning.fusion.name == "weighted"


def test_too_few_queries_are_refused_with_the_reason(service):
    answers = dict(list(named_clips().items())[:19])
    lab = service.lab
    set_id = lab.sets.add(golden(answers), any_name=True).id
    lab.sets.add_query(set_id, "nobody graded this one")
    with pytest.raises(
        GoldenSetError, match="at least 20 graded queries and this set has 19: on fewer, weights"
    ):
        finish(lab.tune(set_id))
    refuse_too_few(20)


def test_tuning_can_be_cancelled_and_changes_nothing(service, tuned):
    before = service.data.settings_file.read_bytes()
    job = service.lab.tune(tuned[0])
    for _ in range(30):
        next(job)
    job.close()
    assert service.data.settings_file.read_bytes() == before
    assert service.searcher.fusion == Fusion()


# --- putting it to use


def test_a_tuning_is_applied_and_taken_back(service, tuned):
    _, tuning, _ = tuned
    service.settings.fusion_weights = dict(BROKEN)
    service.settings.save(service.data.settings_file)
    lab = service.lab
    broken = [hit.id for hit in service.search("dog bark", k=5).hits]
    assert not lab.can_revert
    lab.apply(tuning)
    assert service.searcher.fusion == tuning.fusion and lab.can_revert
    mended = [hit.id for hit in service.search("dog bark", k=5).hits]
    assert mended != broken

    kept = Settings.load(service.data.settings_file)
    assert Fusion.of(kept) == tuning.fusion and kept.fusion_before["fusion_weights"] == BROKEN
    lab.revert()
    assert [hit.id for hit in service.search("dog bark", k=5).hits] == broken and not lab.can_revert
    assert Settings.load(service.data.settings_file) == service.settings
    lab.revert()
    assert service.searcher.fusion.weights == BROKEN


def test_the_apps_own_weights_come_back_as_none_at_all(service, tuned):
    service.lab.apply(tuned[1])
    service.lab.revert()
    assert service.settings.fusion_weights == {} and service.searcher.fusion == Fusion()


def test_what_tuning_promised_is_what_the_search_then_scores(service, tuned):
    set_id, tuning, _ = tuned
    service.lab.apply(tuning)
    report = finish(service.evaluate(service.lab.sets.golden(set_id)))[0].report
    assert report.mean["ndcg@10"] == pytest.approx(tuning.before_mean + tuning.training, abs=1e-12)


# --- settings


@pytest.mark.parametrize(
    "weights",
    [
        {"keyword": -1.0},
        {"keyword": float("nan")},
        {"keyword": float("inf")},
        {"keyword": "1"},
        {"keyword": True},
        {"keyword": 0.0},
        {"magic": 1.0},
        {"keyword": 1.0, "magic": 1.0},
        {},
    ],
)
def test_weights_that_make_no_fusion_leave_the_apps_own(weights):
    assert Fusion.of(Settings(fusion_weights=weights)) == Fusion()


def test_settings_choose_weights_and_depth():
    fusion = Fusion.of(Settings(fusion_weights={"keyword": 1}, fusion_depth=200))
    assert fusion == Fusion("weighted", {"keyword": 1.0, "semantic": 0.0, "audio": 0.0}, 200)
    assert fusion.describe() == "weighted audio=0 keyword=1 semantic=0 depth=200"
    assert Fusion.of(Settings(fusion="rrf")).describe() == "rrf k=60 depth=50"
    assert Fusion.of(Settings(fusion_depth=0)).depth == Fusion.of(Settings(fusion_depth=10**9)).depth == 50


def test_a_settings_file_with_a_spoilt_fusion_works(tmp_path):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"fusion_weights": [1, 2], "fusion_depth": "deep", "fusion_before": 5}))
    assert Settings.load(file) == Settings()
