"""Grading sessions: fair pools, and nothing lost by skipping, undoing, closing the app and coming back."""

from __future__ import annotations

import pytest
from lab_library import index, open_library, write_clips

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.library.golden_store import GoldenStore
from foley_desktop.library.grading import GradingSession, Undone, shuffled

QUERIES = GoldenSet(
    "q", (GoldenQuery("q1", "dog bark"), GoldenQuery("q2", "rain"), GoldenQuery("q3", "bell")), {}
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grading")
    service = open_library(folder / "data")
    index(service, write_clips(folder / "clips"))
    yield service
    service.close()


class Bench:
    """A way to open sessions on a fresh set, as if the app had just been started."""

    def __init__(self, catalog):
        self.catalog = catalog
        self.store = GoldenStore(catalog)
        self.set_id = self.store.add(QUERIES, any_name=True).id
        self.ids = catalog.all_ids()
        self.pools = {"dog bark": self.ids[:5], "rain": self.ids[5:8], "bell": self.ids[:1]}

    def open(self, grader="Anna", **options) -> GradingSession:
        return GradingSession(
            self.store, self.catalog, self.set_id, grader, lambda text: self.pools[text], **options
        )


@pytest.fixture
def bench(library):
    return Bench(library.catalog)


def shown(session: GradingSession) -> dict[str, int | None]:
    return {candidate.clip.id: candidate.grade for candidate in session.sheet().candidates}


def test_the_order_depends_on_set_query_and_clip_alone():
    ids = [f"c{n}" for n in range(50)]
    order = shuffled(ids, "s", "q1")
    assert sorted(order) == sorted(ids) and order != ids
    assert shuffled(reversed(ids), "s", "q1") == order
    assert shuffled(ids, "s", "q2") != order and shuffled(ids, "t", "q1") != order
    assert [c for c in shuffled([*ids, "late"], "s", "q1") if c != "late"] == order
    assert shuffled(["a", "a", "b"], "s", "q") == shuffled(["b", "a"], "s", "q")


def test_a_sheet_shows_the_pool_shuffled_and_counts_what_is_unjudged(bench):
    session = bench.open()
    sheet = session.sheet()
    assert (sheet.query.text, sheet.number, sheet.total, sheet.done, sheet.unjudged) == (
        "dog bark",
        1,
        3,
        0,
        5,
    )
    assert [c.clip.id for c in sheet.candidates] == shuffled(bench.pools["dog bark"], bench.set_id, "q1")
    first, second = (c.clip.id for c in sheet.candidates[:2])
    session.grade(first, 2)
    session.grade(second, 0)
    sheet = session.sheet()
    assert (sheet.unjudged, sheet.candidates[0].grade, sheet.candidates[1].grade) == (3, 2, 0)
    assert sheet.next_unjudged() == sheet.candidates[2].clip.id
    assert sheet.next_unjudged(sheet.candidates[4].clip.id) == sheet.candidates[2].clip.id
    with pytest.raises(GoldenSetError, match="0, 1 or 2"):
        session.grade(first, 5)
    assert session.sheet().candidates[0].grade == 2


def test_a_second_grader_sees_what_the_first_one_judged_but_not_how(bench):
    extra = bench.ids[20]
    bench.store.judge(bench.set_id, "q1", extra, 2, "Anna")
    bench.store.judge(bench.set_id, "q1", "no such clip", 2, "Anna")
    assert shown(bench.open("Ben")) == dict.fromkeys([*bench.pools["dog bark"], extra])


def test_a_closed_session_goes_on_where_it_stopped(bench):
    session = bench.open()
    for candidate in session.sheet().candidates:
        session.grade(candidate.clip.id, 1)
    assert session.sheet().unjudged == 0 and session.sheet().next_unjudged() == ""
    assert session.finish()
    assert session.skip()
    looked = session.sheet().candidates[0].clip.id
    session.look_at(looked)

    session = bench.open(" Anna ")
    sheet = session.sheet()
    assert (sheet.query.id, sheet.number, sheet.done, sheet.clip_id) == ("q3", 3, 2, looked)
    assert session.skipped == ("q2",)
    assert not session.finish()
    assert bench.open("Ben").sheet().query.id == "q1"
    assert bench.open(restart=True).sheet().query.id == "q1"
    assert len(bench.store.judgements(bench.set_id)) == 5


def test_everything_can_be_undone_also_after_a_restart(bench):
    session = bench.open()
    first, second = (c.clip.id for c in session.sheet().candidates[:2])
    session.grade(first, 2)
    at = bench.store.judgements(bench.set_id)[0].at_s
    session.grade(first, 0)
    session.grade(second, 1)
    session.skip()
    session.grade(session.sheet().candidates[0].clip.id, None)

    session = bench.open()
    assert session.undo().query_id == "q2"
    assert session.undo() == Undone("skip", "q1")
    assert session.sheet().query.id == "q1" and session.skipped == ()
    assert session.undo() == Undone("grade", "q1", second)
    assert session.undo() == Undone("grade", "q1", first)
    back = bench.store.judgements(bench.set_id)
    assert [(one.clip, one.grade, one.at_s) for one in back] == [(first, 2, at)]
    assert session.sheet().clip_id == first
    assert session.undo() == Undone("grade", "q1", first)
    assert bench.store.judgements(bench.set_id) == ()
    assert session.undo() is None


def test_an_undo_steps_over_queries_that_are_gone(bench):
    session = bench.open()
    session.grade(bench.ids[0], 2)
    session.skip()
    session.grade(bench.ids[5], 2)
    bench.store.remove_query(bench.set_id, "q2")
    assert bench.open().undo() == Undone("skip", "q1")


def test_skipped_queries_can_be_taken_up_again(bench):
    session = bench.open()
    session.skip()
    session.go_to("q1")
    assert bench.open().sheet().query.id == "q1"
    assert session.finish()
    assert session.sheet().query.id == "q2"
    assert session.skip() and session.sheet().query.id == "q3"
    assert not session.skip()
    with pytest.raises(GoldenSetError, match="not part of"):
        session.go_to("q9")


def test_some_clips_of_some_queries_can_be_graded_by_themselves(bench):
    whole = bench.open()
    whole.skip()
    focus = {"q3": bench.ids[10:12], "q1": bench.ids[:1], "q2": []}
    session = bench.open(focus=focus)
    assert session.focused and session.sheet().query.id == "q1" and session.sheet().total == 2
    assert list(shown(session)) == bench.ids[:1]
    session.finish()

    session = bench.open()  # a restart in the middle
    assert session.focused and session.sheet().query.id == "q3"
    assert set(shown(session)) == set(bench.ids[10:12])
    session.widen()
    assert not session.focused and session.sheet().query.id == "q2" and session.skipped == ("q1",)

    session = bench.open(focus=focus)
    session.finish()
    assert not session.finish()
    session = bench.open()
    assert not session.focused and session.sheet().query.id == "q2"


def test_queries_that_come_and_go_between_sittings(bench):
    bench.open().skip()
    bench.store.remove_query(bench.set_id, "q2")
    assert bench.open().sheet().query.id == "q3"
    session = bench.open(focus={"q3": bench.ids[:2]})
    bench.store.remove_query(bench.set_id, "q3")
    session = bench.open()
    assert not session.focused and session.sheet().query.id == "q1"
    bench.store.remove_query(bench.set_id, "q1")
    with pytest.raises(GoldenSetError, match="nothing to grade"):
        bench.open()


def test_a_query_can_be_removed_under_an_open_session(bench):
    session = bench.open()
    bench.store.remove_query(bench.set_id, "q1")
    assert session.sheet().query.id == "q2"
    with pytest.raises(GoldenSetError, match="not in the golden set"):
        bench.store.judge(bench.set_id, "q1", bench.ids[0], 1, "Anna")
    bench.store.remove_query(bench.set_id, "q2")
    assert session.skip() and session.skipped == ()
    assert session.sheet().query.id == "q3"
    bench.store.delete(bench.set_id)
    for step in (session.sheet, session.finish, session.skip, lambda: session.grade(bench.ids[0], 2)):
        with pytest.raises(GoldenSetError, match="not there any more"):
            step()


def test_a_session_needs_a_set_and_a_name(bench):
    with pytest.raises(GoldenSetError, match="grader's name"):
        bench.open("  ")
    with pytest.raises(GoldenSetError, match="not there any more"):
        GradingSession(bench.store, bench.store._catalog, "none", "Anna", lambda text: [])
