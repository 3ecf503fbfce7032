"""qrels and run files: written so that trec_eval reads them, read as trec_eval would."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval import trec
from foley_desktop.eval.retrieval import evaluate_run
from foley_desktop.eval.trec import decode_id, encode_id, read_qrels, read_run, write_qrels, write_run

ids = st.text(min_size=1)


@given(ids)
def test_every_id_survives_and_holds_no_white_space(text):
    encoded = encode_id(text)
    assert encoded.split() == [encoded] and encoded.isprintable()
    assert encoded.encode("utf-8")
    assert decode_id(encoded) == text


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("dogs/bark 01.wav", "dogs/bark%2001.wav"),
        ("100%", "100%25"),
        ("a%20b", "a%2520b"),
        ("a\tb\n", "a%09b%0A"),
        ("Tür 雨", "Tür%20雨"),
        ("caf\udce9", "caf%ED%B3%A9"),
        ("\u00a0\u2028\ufeff", "%C2%A0%E2%80%A8%EF%BB%BF"),
        ("\ud83d\ude00", "%ED%A0%BD%ED%B8%80"),
    ],
)
def test_how_ids_are_written(text, encoded):
    assert encode_id(text) == encoded
    assert decode_id(encoded) == text


def test_percent_signs_of_others_are_kept_where_they_encode_nothing():
    assert decode_id("100%") == "100%"
    assert decode_id("50%-off") == "50%-off"
    assert decode_id("%FF%zz") == "%FF%zz"


def test_an_empty_id_is_refused():
    with pytest.raises(GoldenSetError, match="empty id"):
        encode_id("")


grades = st.dictionaries(ids, st.dictionaries(ids, st.integers(-2, 3), min_size=1, max_size=4), max_size=3)
scores = st.floats(allow_nan=False)
runs = st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1, max_size=4), max_size=3)


@settings(max_examples=50)
@given(grades, runs)
def test_both_files_are_read_back_as_written(qrels, run):
    with tempfile.TemporaryDirectory() as folder:
        write_qrels(f"{folder}/qrels.txt", qrels)
        write_run(f"{folder}/run.txt", run, tag="my run")
        assert read_qrels(f"{folder}/qrels.txt") == qrels
        assert read_run(f"{folder}/run.txt") == run


def test_the_lines_are_those_of_trec(tmp_path):
    write_qrels(tmp_path / "qrels.txt", {"q1": {"b.wav": 1, "a b.wav": 2}})
    write_run(tmp_path / "run.txt", {"q1": {"x": 1, "a b.wav": 3.5, "c": 1}})
    assert (tmp_path / "qrels.txt").read_bytes() == b"q1 0 a%20b.wav 2\nq1 0 b.wav 1\n"
    assert (tmp_path / "run.txt").read_bytes() == (
        b"q1 Q0 a%20b.wav 1 3.5 foley-desktop\nq1 Q0 c 2 1.0 foley-desktop\nq1 Q0 x 3 1.0 foley-desktop\n"
    )


def test_trec_eval_reads_our_files_and_finds_the_same_numbers(tmp_path):
    qrels = {"q 1": {"a b": 2, "c": 1, "d": 0}, "q2": {"e": 1}}
    run = {"q 1": {"d": 3.0, "a b": 2.0, "c": 1.0}, "q2": {"x": 2.0, "e": 1.0}}
    write_qrels(tmp_path / "qrels.txt", qrels)
    write_run(tmp_path / "run.txt", run)
    with open(tmp_path / "qrels.txt") as file:
        their_qrels = pytrec_eval.parse_qrel(file)
    with open(tmp_path / "run.txt") as file:
        their_run = pytrec_eval.parse_run(file)
    theirs = pytrec_eval.RelevanceEvaluator(their_qrels, {"ndcg_cut.10"}).evaluate(their_run)
    ours = evaluate_run(read_run(tmp_path / "run.txt"), read_qrels(tmp_path / "qrels.txt"))
    assert {query: values["ndcg_cut_10"] for query, values in theirs.items()} == pytest.approx(
        {encode_id(query): values["ndcg@10"] for query, values in ours.per_query.items()}, abs=1e-9
    )


def written(folder: Path, data: bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        b"q1 0 a 2\nq1 0 b 0\nq2 0 a 1\n",
        b"q1\t0\ta\t2\nq1\t0\tb\t0\nq2\t0\ta\t1",
        b"  q1   0 \t a  2  \r\nq1 0 b 0\r\nq2 Q0 a +1\r\n",
        b"\xef\xbb\xbfq1 0 a 2\n\n   \nq1 0 b 0\nq2 0 a 1.0\n\n",
    ],
)
def test_qrels_of_others(tmp_path, data):
    assert read_qrels(written(tmp_path, data)) == {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}}


@pytest.mark.parametrize(
    "data",
    [
        b"q1 Q0 a 1 2.5 tag\nq1 Q0 b 2 -1e-3 tag\n",
        b"q1\tQ0\ta\t0\t2.5\ttag\nq1\t0\tb\t0\t-0.001\ttag",
        b" q1  Q0 a 99  +2.50  tag \r\n\r\nq1 Q0 b x -.001 tag\r\n",
    ],
)
def test_runs_of_others(tmp_path, data):
    assert read_run(written(tmp_path, data)) == {"q1": {"a": 2.5, "b": -0.001}}


def test_bytes_that_are_no_text_and_foreign_spaces_stay_in_ids(tmp_path):
    data = "q\u00a01".encode() + b" 0 caf\xe9 1\n"
    assert read_qrels(written(tmp_path, data)) == {"q\u00a01": {"caf\udce9": 1}}
    assert read_qrels(written(tmp_path, b"")) == read_run(written(tmp_path, b"\n")) == {}


@pytest.mark.parametrize(
    ("read", "data", "words"),
    [
        (read_qrels, b"q1 0 a 2\nq1 0 b\n", "Line 2 .* has 3 columns instead of 4"),
        (read_qrels, b"q1 0 a b 2\n", "Line 1 .* has 5 columns instead of 4"),
        (read_qrels, b"q1 0 a high\n", "grade 'high' that is no whole number"),
        (read_qrels, b"q1 0 a 1.5\n", "grade '1.5' that is no whole number"),
        (read_qrels, b"q1 0 a 1_0\n", "no whole number"),
        (read_qrels, b"q1 0 a 1\nq1 0 a 2\n", "Line 2 .* judges 'a' a second time"),
        (read_run, b"q1 Q0 a 1 0.5\n", "Line 1 .* has 5 columns instead of 6"),
        (read_run, b"q1 Q0 a 1 good tag\n", "score 'good' that is no number"),
        (read_run, b"q1 Q0 a 1 nan tag\n", "score 'nan' that is no number"),
        (read_run, b"q1 Q0 a 1 1_0 tag\n", "no number"),
        (read_run, "q1 Q0 a 1 ٣ tag\n".encode(), "no number"),
        (read_run, b"q1 Q0 a 1 2 t\n\nq1 Q0 a 2 1 t\n", "Line 3 .* lists 'a' a second time"),
    ],
)
def test_each_damage_names_its_line(tmp_path, read, data, words):
    with pytest.raises(GoldenSetError, match=words) as error:
        read(written(tmp_path, data))
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


@given(
    st.binary(max_size=200)
    | st.from_regex(rb"([a-z%0-9.]{1,3}[ \t]){3,5}[0-9a-z.]{1,3}\r?\n", fullmatch=True)
)
def test_any_bytes_are_a_file_or_one_sentence(data):
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), data)
        for read in (read_qrels, read_run):
            try:
                read(path)
            except GoldenSetError as error:
                assert "\n" not in str(error)


def test_files_that_are_not_there_or_too_large(tmp_path, monkeypatch):
    with pytest.raises(GoldenSetError, match=r"qrels file .* does not exist"):
        read_qrels(tmp_path / "none.txt")
    with pytest.raises(GoldenSetError, match=r"run file .* cannot be written"):
        write_run(tmp_path / "none" / "run.txt", {})
    monkeypatch.setattr(trec, "MAX_TREC_BYTES", 2**20)
    with pytest.raises(GoldenSetError, match="larger than 1 MB"):
        read_run(written(tmp_path, b" " * (2**20 + 1)))
