"""Search over a library that hears: exclusion by sound, order in time, balance, moments, reasons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hearing_library import names, open_library, sound, write
from hypothesis import given
from hypothesis import strategies as st
from job_support import run as finished

from foley_desktop.index.query import parse_query
from foley_desktop.index.search import AUDIO, KEYWORD, SEMANTIC
from foley_desktop.library.balancing import balanced, neutral
from foley_desktop.library.excluding import audible_exclusions
from foley_desktop.library.sequences import order_of
from foley_desktop.library.service import LibraryService
from foley_desktop.models import MODES, Condition, Filters, SearchResult

LONG = 12.0
CLIPS = {
    "a1": sound("rumble"),
    "a2": sound("beep"),
    "a3": sound({"rumble": 0.4, "beep": 0.2}),
    "a4": sound({"rumble": 0.2, "beep": 0.4}),
    "a5": sound("whistle"),
    "rumble with beep": sound("rumble"),
    "rumble alone": sound("rumble"),
    "rumble falsely": sound("beep"),
    "rumble silent": sound({}),
    "beep alone": sound("beep"),
    "moan alone": sound("moan"),
    "long/first low": sound("rumble", "beep", seconds=LONG),
    "long/first high": sound("beep", "rumble", seconds=LONG),
    "long/both": sound({"rumble": 0.3, "beep": 0.3}, {"rumble": 0.3, "beep": 0.3}, seconds=LONG),
    "long/late hiss": sound("moan", "moan", "moan", "hiss", "moan", seconds=LONG),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryService]:
    folder = tmp_path_factory.mktemp("searching")
    service = open_library(folder / "data", write(folder / "clips", CLIPS))
    yield service
    service.close()


def found(result: SearchResult) -> list[str]:
    return names(result.hits)


# ---------------------------------------------------------------- excluding by sound


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("rain -thunder", ("thunder",)),
        ('rain -"light wind" -hail', ("light wind", "hail")),
        ("rain NOT thunder", ("thunder",)),
        ("-thunder", ()),
        ("rain", ()),
        ("rain -cat:doors -name:thunder", ()),
        ("rain -5.1 -24 -MKH8040 -mono -x", ()),
        ("rain -雷", ("雷",)),
        ("rain -the", ()),
    ],
)
def test_which_exclusions_can_be_heard(query: str, texts: tuple[str, ...]) -> None:
    assert audible_exclusions(parse_query(query)) == texts


@pytest.mark.parametrize("mode", ["hybrid", "audio"])
def test_no_clip_says_what_is_excluded_by_word_or_by_sound(library: LibraryService, mode: str) -> None:
    shown = found(library.search("rumble -beep", k=50, mode=mode))
    assert {"a1", "a3", "rumble alone"} <= set(shown)
    assert not {"rumble with beep", "rumble falsely", "beep alone", "a2", "a4"} & set(shown)
    assert {"a5", "moan alone"} <= set(shown), "neither one nor the other is no reason to hide"


def test_exclusion_by_sound_holds_for_meaning_too(library: LibraryService) -> None:
    shown = found(library.search("rumble -beep", k=50, mode="semantic"))
    assert shown[0] in ("rumble alone", "rumble silent")
    assert not {"rumble with beep", "rumble falsely", "beep alone", "a2", "a4"} & set(shown)


def test_keywords_never_listen(library: LibraryService) -> None:
    result = library.search("rumble -beep", k=50, mode="keyword")
    assert set(found(result)) == {"rumble alone", "rumble falsely", "rumble silent"}
    assert result.hidden_by_sound == 0


def test_what_has_no_sound_is_judged_by_words_alone(library: LibraryService) -> None:
    assert "rumble silent" in found(library.search("rumble -beep", k=50))


def test_hidden_clips_are_counted_and_can_be_shown(library: LibraryService) -> None:
    hidden = library.search("rumble -beep", k=50)
    shown = library.search("rumble -beep", k=50, show_hidden=True)
    missing = set(found(shown)) - set(found(hidden))
    assert missing == {"rumble falsely", "a2", "a4"}
    assert hidden.hidden_by_sound == shown.hidden_by_sound == 3
    marked = {hit.sound.name for hit in shown.hits if hit.why.get("sounds_like") == "beep"}
    assert marked == {"rumble falsely.wav", "a2.wav", "a4.wav"}
    assert "rumble with beep" not in found(shown), "an excluded word stays excluded"


def test_only_clips_that_would_be_seen_are_counted(library: LibraryService) -> None:
    few = library.search("rumble -beep", k=2, mode="audio")
    assert len(few.hits) == 2 and few.hidden_by_sound == 0
    assert library.search("rumble", k=50).hidden_by_sound == 0


def test_a_list_is_read_on_until_it_is_full(tmp_path: Path) -> None:
    clips = {f"rumble {n:03}": sound("beep") for n in range(90)}
    clips |= {f"zz rumble and more words here {n}": sound("rumble") for n in range(4)}
    service = open_library(tmp_path / "data", write(tmp_path / "clips", clips))
    for mode in ("hybrid", "semantic"):
        result = service.search("rumble -beep", k=3, mode=mode)
        assert len(result.hits) == 3 and all(name.startswith("zz") for name in found(result))
        assert result.hidden_by_sound == 3
    service.close()


def test_several_exclusions_each_hide(library: LibraryService) -> None:
    shown = set(found(library.search("rumble -beep -whistle", k=50, mode="audio")))
    assert "a5" not in shown and "a2" not in shown and "a1" in shown


# ---------------------------------------------------------------- one after the other


def by_hand(scores: np.ndarray) -> float:
    """The best mean over increasing choices of windows, by trying them all."""
    import itertools

    windows, steps = scores.shape

    def best(order: bool) -> float:
        means = [
            float(np.mean([scores[w, s] for s, w in enumerate(chosen if order else chosen[::-1])]))
            for chosen in itertools.combinations(range(windows), steps)
        ]
        return max(means, default=-np.inf)

    return max(0.0, best(True) - max(best(False), float(scores.mean(axis=1).max())))


@given(
    st.integers(1, 7),
    st.integers(2, 4),
    st.randoms(use_true_random=False),
)
def test_order_is_the_best_there_is(windows: int, steps: int, random) -> None:
    scores = np.array([[round(random.uniform(-1, 1), 2) for _ in range(steps)] for _ in range(windows)])
    order = order_of(scores)
    assert order.bonus == pytest.approx(by_hand(scores), abs=1e-12)
    assert order.bonus == 0.0 or order.last - order.first >= steps - 1


@pytest.mark.parametrize("mode", ["hybrid", "audio"])
def test_then_prefers_the_order_that_was_asked_for(library: LibraryService, mode: str) -> None:
    low_first = found(library.search("rumble then beep", k=50, mode=mode))
    high_first = found(library.search("beep then rumble", k=50, mode=mode))
    assert low_first.index("long/first low") < low_first.index("long/first high")
    assert high_first.index("long/first high") < high_first.index("long/first low")
    if mode == "audio":
        assert low_first[0] == "long/first low" and high_first[0] == "long/first high"


def test_without_then_order_makes_no_difference(library: LibraryService) -> None:
    hits = library.search("rumble beep", k=50, mode="audio").hits
    by_name = {hit.sound.rel_path: hit.clap_score for hit in hits}
    assert by_name["long/first low.wav"] == pytest.approx(by_name["long/first high.wav"], abs=0.02)


def test_an_ordered_clip_is_marked_from_the_first_step_to_the_last(library: LibraryService) -> None:
    result = library.search("rumble then beep", k=50, mode="audio")
    first = result.hits[0]
    assert first.start_s is not None and first.start_s < LONG
    assert first.end_s is not None and first.end_s > LONG
    assert first.clap_score is not None and -1.0 <= first.clap_score <= 1.0
    assert first.why[AUDIO]["score"] > first.clap_score, "the order adds to the ranker's score alone"


def test_words_keep_working_beside_then(library: LibraryService) -> None:
    plain = library.search("rumble beep", k=50, mode="keyword")
    assert found(library.search("rumble then beep", k=50, mode="keyword")) == found(plain)
    assert found(library.search('"rumble then beep"', k=50, mode="keyword")) == []


# ---------------------------------------------------------------- moments


def test_a_long_clip_opens_at_its_best_moment(library: LibraryService) -> None:
    for mode in ("audio", "hybrid"):
        (hit,) = [h for h in library.search("hiss", k=50, mode=mode).hits if "late hiss" in h.sound.name]
        assert hit.start_s is not None and hit.end_s is not None
        assert hit.start_s < 4 * LONG and hit.end_s > 3 * LONG
        assert hit.end_s - hit.start_s == pytest.approx(10.0, abs=0.1)
    (hit,) = [h for h in library.search("hiss", k=50).hits if h.sound.name == "a1.wav"]
    assert (hit.start_s, hit.end_s) == (0.0, pytest.approx(0.5, abs=0.01))


def test_words_alone_name_no_moment(library: LibraryService) -> None:
    assert all(hit.start_s is None for hit in library.search("rumble", k=50, mode="keyword").hits)


# ---------------------------------------------------------------- balance


@given(
    st.dictionaries(st.sampled_from([KEYWORD, SEMANTIC, AUDIO]), st.floats(0, 10), min_size=3),
    st.floats(0, 1),
)
def test_weights_in_balance(weights: dict[str, float], balance: float) -> None:
    out = balanced(weights, balance)
    assert set(out) == set(weights) and all(weight >= 0.0 for weight in out.values())
    assert sum(out.values()) == pytest.approx(1.0)
    assert out[AUDIO] == balance
    words = weights[KEYWORD] + weights[SEMANTIC]
    if words > 1e-6:
        assert out[KEYWORD] * words == pytest.approx((1 - balance) * weights[KEYWORD])
        own = balanced(weights, neutral(weights))
        assert own == pytest.approx({n: w / sum(weights.values()) for n, w in weights.items()})


@pytest.fixture(params=["weighted", "rrf"])
def fused(library: LibraryService, request: pytest.FixtureRequest) -> Iterator[LibraryService]:
    library.settings.fusion = request.param
    yield library
    library.settings.fusion = "weighted"


def test_at_its_ends_the_balance_is_words_alone_and_sound_alone(fused: LibraryService) -> None:
    sound_only = fused.search("rumble beep", k=8, balance=1.0)
    assert found(sound_only) == found(fused.search("rumble beep", k=8, mode="audio"))
    assert all(set(shares(hit)) == {AUDIO} for hit in sound_only.hits)
    words_only = fused.search("rumble beep", k=8, balance=0.0)
    assert found(words_only)[0] == "rumble with beep"
    assert all(AUDIO not in shares(hit) for hit in words_only.hits)


def shares(hit) -> dict[str, float]:
    return {n: p["share"] for n, p in hit.why.items() if isinstance(p, dict) and p.get("share")}


def test_the_neutral_balance_changes_nothing(fused: LibraryService) -> None:
    own = fused.search("rumble beep", k=50)
    same = fused.search("rumble beep", k=50, balance=fused.searcher.neutral_balance)
    assert found(own) == found(same)


def test_moving_the_balance_asks_no_model_and_no_vectors_again(
    fused: LibraryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    fused.search("moan whistle -beep", k=10)
    asked = fused.models.pitch.texts_asked
    for index in (fused.indexes.semantic, fused.indexes.audio):
        for method in ("knn", "knn_windows", "best_windows", "get_many"):
            monkeypatch.setattr(index, method, lambda *a, **k: pytest.fail("asked again"))
    orders = {tuple(found(fused.search("moan whistle -beep", k=10, balance=b))) for b in (0.0, 0.5, 1.0)}
    assert len(orders) > 1
    assert fused.models.pitch.texts_asked == asked


def test_what_is_kept_is_given_up_when_the_library_changes(tmp_path: Path) -> None:
    root = write(tmp_path / "clips", {"rumble one": sound("rumble")})
    service = open_library(tmp_path / "data", root)
    assert found(service.search("rumble")) == ["rumble one"]
    write(root, {"rumble one": sound("rumble"), "rumble two": sound("rumble", "moan")})
    for _ in service.index([root]):
        pass
    assert set(found(service.search("rumble", balance=0.5))) == {"rumble one", "rumble two"}
    service.close()


# ---------------------------------------------------------------- reasons


def test_shares_add_up_to_the_fused_score(fused: LibraryService) -> None:
    for hit in fused.search("rumble beep", k=50).hits:
        assert sum(shares(hit).values()) == pytest.approx(hit.rrf_score, abs=2e-6)


def test_scores_are_told_also_where_a_list_did_not_reach(library: LibraryService) -> None:
    for hit in library.search("rumble", k=2).hits:
        assert set(hit.why) >= {SEMANTIC, AUDIO}
        assert all(hit.why[name]["score"] is not None for name in (SEMANTIC, AUDIO))


def test_what_a_filter_leaves_out_answers_nothing(library: LibraryService) -> None:
    filters = Filters((Condition("duration", ">", 9_999.0),))
    for mode in MODES:
        result = library.search("rumble", mode=mode, filters=filters)
        assert (result.hits, result.answerable) == ((), 0.0)
        assert library.search("rumble", mode=mode).answerable > 0.5


def test_what_has_to_match_and_does_is_an_answer_also_while_it_is_typed(library: LibraryService) -> None:
    for query in ("name:rumb", "folder:lon", "name:rumble OR name:bee"):
        result = library.search(query, typing=True)
        assert result.hits and result.answerable > 0.5
    assert library.search("rumb", typing=True).answerable < 0.5


def test_words_far_down_are_looked_up_when_asked(tmp_path: Path) -> None:
    clips = {f"rumble {n:03}": sound("rumble", seconds=0.05) for n in range(60)}
    service = open_library(tmp_path / "data", write(tmp_path / "clips", clips))
    last = service.search("rumble", k=60, mode="keyword").hits[-1]
    assert "matched" not in last.why
    assert service.searcher.explained("rumble", last).why["matched"] == {"rumble": ["name"]}
    service.close()


# ---------------------------------------------------------------- names without meaning


def test_where_names_are_codes_the_sound_decides_and_the_library_is_well(tmp_path: Path) -> None:
    sounds = [sound(band) for band in ("rumble", "moan", "tone", "whistle", "beep", "hiss")] * 3
    clips = {f"{n * 2654435761 % 2**32:08x}": samples for n, samples in enumerate(sounds, start=1)}
    clips["late name whistle"] = sound("whistle")
    service = open_library(tmp_path / "data", write(tmp_path / "clips", clips))
    whole = finished(service.index())
    assert whole.unchanged == len(clips)
    assert service.indexes.semantic.ids() == {service.clip("late name whistle.wav").id}
    for query in ("beep", "rumble", "hiss"):
        heard = set(found(service.search(query, k=3, mode="audio")))
        assert set(found(service.search(query, k=3))) == heard
    assert found(service.search("late whistle", k=1)) == ["late name whistle"]
    report = finished(service.doctor())
    assert report.ok and not report.repaired
    service.close()
