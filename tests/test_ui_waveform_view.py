"""The arithmetic of the waveform's view: it never leaves the clip; pixels and frames convert both ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.ui.waveform_image import lanes_of, merged
from foley_desktop.ui.waveform_ruler import frame_step
from foley_desktop.ui.waveform_view import CLOSEST, WaveView, nudged, stretched

pytestmark = pytest.mark.gui
FRAMES = st.integers(0, 3_000_000_000)
SHARE = st.floats(0, 1)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("zoom"), st.floats(0.01, 100), SHARE),
        st.tuples(st.just("move"), st.floats(-1e10, 1e10), SHARE),
        st.tuples(st.just("show"), st.floats(-1e10, 1e10), st.floats(0, 1e10)),
    ),
    max_size=12,
)


def walked(view: WaveView, steps: list[tuple[str, float, float]]) -> WaveView:
    for kind, amount, other in steps:
        if kind == "zoom":
            view = view.zoomed(amount, other)
        elif kind == "move":
            view = view.moved(amount)
        else:
            view = view.showing(amount, amount + other)
    return view


@given(FRAMES, STEPS)
def test_a_view_never_leaves_the_clip(frames: int, steps: list[tuple[str, float, float]]) -> None:
    view = walked(WaveView.whole(frames), steps)
    assert 0 <= view.start < view.end <= max(1, frames)
    assert view.span >= min(CLOSEST, max(1, frames)) * (1 - 1e-6)


@given(FRAMES, STEPS, st.floats(0, 4000), st.integers(1, 4000))
def test_pixels_and_frames_convert_both_ways(
    frames: int, steps: list[tuple[str, float, float]], x: float, width: int
) -> None:
    view = walked(WaveView.whole(frames), steps)
    x = min(x, width)
    frame = view.frame_at(x, width)
    assert 0 <= frame <= frames
    if 0 < frame < frames:
        assert view.x_of(frame, width) == pytest.approx(x, abs=1e-3 * max(1.0, width / view.span))


@given(st.integers(1000, 10_000_000), st.floats(0.2, 0.8), st.floats(0.05, 0.95))
def test_zooming_in_keeps_what_lies_under_the_pointer(frames: int, factor: float, share: float) -> None:
    view = WaveView.whole(frames)
    while view.span * factor > 4 * CLOSEST:
        before = view.start + share * view.span
        view = view.zoomed(factor, share)
        assert view.start + share * view.span == pytest.approx(before, abs=1e-6 * frames)
    assert view.zoomed(1e12).is_whole


@given(st.floats(-1e7, 1e7), st.floats(-1e7, 1e7), st.integers(0, 5_000_000))
def test_a_selection_is_whole_frames_within_the_clip(one: float, other: float, frames: int) -> None:
    found = stretched(one, other, frames)
    if not frames:
        assert found is None
        return
    assert found is not None
    first, last = found
    assert 0 <= first < last <= frames
    inside = [min(max(0, round(place)), frames) for place in (one, other)]
    assert abs(first - min(inside)) <= 1 and abs(last - max(inside)) <= 1


@given(
    st.integers(0, 3_000_000_000), st.sampled_from([8000, 11025, 22050, 44100, 48000, 96000, 192000, 384000])
)
def test_a_frame_told_in_seconds_is_that_frame(frame: int, rate: int) -> None:
    assert round(frame / rate * rate) == frame


@given(st.integers(2, 100_000), st.integers(-1000, 1000), st.sampled_from(["start", "end"]), st.data())
def test_nudging_moves_one_edge_and_keeps_a_frame(
    frames: int, by: int, edge: str, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, frames - 1))
    last = data.draw(st.integers(first + 1, frames))
    new = nudged((first, last), edge, by, frames)
    assert 0 <= new[0] < new[1] <= frames
    assert new[1] == last if edge == "start" else new[0] == first
    if 0 < (first + by) < last and edge == "start":
        assert new[0] == first + by


@given(st.integers(1, 64), st.integers(1, 1200))
def test_every_channel_has_a_lane(channels: int, height: int) -> None:
    lanes = lanes_of(channels, height)
    assert [n for first, end in lanes for n in range(first, end)] == list(range(channels))
    if height >= 6 * channels:
        assert len(lanes) == channels
    view = np.random.default_rng(0).uniform(-1, 1, (channels, 5, 3)).astype(np.float32)
    shared = merged(view, lanes)
    assert shared.shape == (len(lanes), 5, 3)
    assert shared[..., 0].min() == view[..., 0].min() and shared[..., 1].max() == view[..., 1].max()


@given(st.floats(1, 1e6), st.floats(1, 40))
def test_close_up_the_ruler_counts_in_round_frames(frames: float, marks: float) -> None:
    step = frame_step(frames, marks)
    assert step >= 1 and int(str(step).rstrip("0") or "1") in (1, 2, 5)
    assert step >= frames / marks * 0.999 or step == 1
    assert step <= max(1.0, 2.51 * frames / marks)
