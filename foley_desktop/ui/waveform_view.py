"""Which stretch of a clip is seen, and which frame lies under which pixel: pure arithmetic, no Qt.

Kept apart so that its promises can be tested by themselves: a view never leaves the clip, zooming keeps what
lies under the pointer, and pixels and frames convert both ways without loss.
"""

from __future__ import annotations

from dataclasses import dataclass

CLOSEST = 16
"""The closest view shows so many frames."""


@dataclass(frozen=True, slots=True)
class WaveView:
    """The frames from ``start`` up to ``end`` of a clip of ``frames``; both may lie between two frames.

    Always ``0 <= start < end <= max(1, frames)``.
    """

    frames: int
    start: float
    end: float

    @classmethod
    def whole(cls, frames: int) -> WaveView:
        return cls(frames, 0.0, float(max(1, frames)))

    @property
    def span(self) -> float:
        return self.end - self.start

    @property
    def is_whole(self) -> bool:
        return self.start == 0.0 and self.end == max(1, self.frames)

    def showing(self, start: float, end: float) -> WaveView:
        """The view nearest to these ends that is neither too close nor outside the clip."""
        span = self._possible(end - start)
        return self._placed(start if span == end - start else (start + end - span) / 2, span)

    def zoomed(self, factor: float, share: float = 0.5) -> WaveView:
        """``factor`` times as much of the clip; what lies at ``share`` of the width (0 to 1) stays there, as
        far as the clip's ends allow."""
        span = self._possible(self.span * factor)
        return self._placed(self.start + share * (self.span - span), span)

    def _possible(self, span: float) -> float:
        length = float(max(1, self.frames))
        return min(length, max(min(float(CLOSEST), length), span))

    def _placed(self, start: float, span: float) -> WaveView:
        """The stretch ``span`` long that begins nearest to ``start`` within the clip."""
        length = float(max(1, self.frames))
        first = min(max(0.0, start), length - span)
        return WaveView(self.frames, first, min(length, first + span))

    def moved(self, frames: float) -> WaveView:
        """Moved along, at most to the clip's ends."""
        length = float(max(1, self.frames))
        step = min(max(frames, -self.start), length - self.end)
        return WaveView(self.frames, self.start + step, min(length, self.end + step))

    def x_of(self, frame: float, width: float) -> float:
        """Where a frame begins, in pixels of a picture ``width`` wide; may lie outside it."""
        return (frame - self.start) / self.span * width

    def frame_at(self, x: float, width: float) -> float:
        """The place under a pixel, kept within the clip."""
        place = self.start + self.span * x / max(1.0, width)
        return min(max(0.0, place), float(self.frames))


def stretched(one: float, other: float, frames: int) -> tuple[int, int] | None:
    """The whole frames between two places, at least one; None where a clip has none."""
    if frames < 1:
        return None
    first, last = sorted((round(one), round(other)))
    first = min(max(0, first), frames - 1)
    return first, min(frames, max(first + 1, last))


def nudged(region: tuple[int, int], edge: str, by: int, frames: int) -> tuple[int, int]:
    """A region with its ``start`` or ``end`` moved by some frames; it keeps at least one."""
    first, last = region
    if edge == "start":
        return min(max(0, first + by), last - 1), last
    return first, max(first + 1, min(frames, last + by))
