"""What a new file is to be: one description for exports, drags and the command line."""

from __future__ import annotations

from dataclasses import dataclass, field

from foley_desktop.audio.treatment import Treatment
from foley_desktop.errors import RenderError


@dataclass(frozen=True)
class RenderOptions:
    """What a new file is to be; None leaves it as the source has it.

    Attributes:
        start_s, end_s: The stretch, in seconds of the source.
        rate: Sample rate in Hz.
        depth: 8, 16 or 24 bits, or 32: floats, or integers where the source has 32-bit integers.
        channels: 1 or 2, or more with the added ones silent.
        normalise_db: The highest sample's level in dBFS, at most 0.
        speed: As a tape would: 2 is twice as fast and an octave up. 0.05 to 20.
        reverse: Back to front.
        fade_in_s, fade_out_s: Lengths of fades at the ends of the new file, in its own seconds.
        dither: Triangular dither where the depth falls.
        treatment: What is done to the sound as the player does it, together with what stands above.
        peak: The highest sample of the whole clip, for the treatment's normalising; None finds it out.
    """

    start_s: float | None = None
    end_s: float | None = None
    rate: int | None = None
    depth: int | None = None
    channels: int | None = None
    normalise_db: float | None = None
    speed: float | None = None
    reverse: bool = False
    fade_in_s: float = 0.0
    fade_out_s: float = 0.0
    dither: bool = True
    treatment: Treatment = field(default_factory=Treatment)
    peak: float | None = None

    def check(self) -> None:
        """Raises RenderError with a sentence when a value makes no sense."""
        start_s = self.start_s or 0.0
        for value, good, sentence in (
            (start_s, 0 <= start_s < float("inf"), "The start must be 0 s or later."),
            (self.end_s, (self.end_s or 0.0) > start_s, "The end must lie behind the start."),
            (self.rate, 1000 <= (self.rate or 0) <= 768000, "The sample rate must be 1000 to 768000 Hz."),
            (self.depth, self.depth in (8, 16, 24, 32), "The depth must be 8, 16, 24 or 32 bit."),
            (self.channels, 1 <= (self.channels or 0) <= 64, "There must be 1 to 64 channels."),
            (self.normalise_db, -100 <= (self.normalise_db or 0) <= 0, "The level must be -100 to 0 dB."),
            (self.speed, 0.05 <= (self.speed or 0) <= 20, "The speed must be 0.05 to 20."),
            (self.fade_in_s, 0 <= self.fade_in_s <= 60, "A fade must be 0 to 60 s long."),
            (self.fade_out_s, 0 <= self.fade_out_s <= 60, "A fade must be 0 to 60 s long."),
        ):
            if value is not None and not good:
                raise RenderError(sentence)
