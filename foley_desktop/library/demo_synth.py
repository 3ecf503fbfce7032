"""The tools of the demo library's sounds: noise, filters, resonances, envelopes, rooms.

Everything is float64 at 48 kHz; mono is ``(n,)``, stereo ``(n, 2)``. Random parts take a seeded
generator, so that the same seed gives the same samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.signal import butter, fftconvolve, lfilter, sosfilt

RATE = 48_000

Rng = np.random.Generator
Sound = np.ndarray


def frames(seconds: float) -> int:
    return max(1, round(seconds * RATE))


def times(seconds: float) -> Sound:
    """The time of each sample, in seconds."""
    return np.arange(frames(seconds)) / RATE


def noise(rng: Rng, seconds: float, tilt_db: float = 0.0) -> Sound:
    """Gaussian noise of unit power whose spectrum falls by ``tilt_db`` an octave (3 pink, 6 brown)."""
    count = frames(seconds)
    white = rng.standard_normal(count)
    if not tilt_db:
        return white
    spectrum = np.fft.rfft(white)
    octaves = np.log2(np.maximum(np.fft.rfftfreq(count, 1 / RATE), 20.0) / 20.0)
    shaped = np.fft.irfft(spectrum * 10 ** (-tilt_db * octaves / 20), count)
    return shaped / np.sqrt(np.mean(shaped**2) + 1e-20)


def band(sound: Sound, low: float | None, high: float | None, order: int = 2) -> Sound:
    """A Butterworth band-pass; None leaves that side open."""
    if low is not None and high is not None:
        sos = butter(order, [low, high], "bandpass", fs=RATE, output="sos")
    elif low is not None:
        sos = butter(order, low, "highpass", fs=RATE, output="sos")
    else:
        sos = butter(order, high, "lowpass", fs=RATE, output="sos")
    return sosfilt(sos, sound, axis=0)


def resonate(sound: Sound, modes: Sequence[tuple[float, float, float]]) -> Sound:
    """What a body of ``(frequency Hz, decay s, gain)`` modes makes of an excitation."""
    out = np.zeros_like(sound)
    for frequency, decay, gain in modes:
        radius = np.exp(-1.0 / (decay * RATE))
        angle = 2 * np.pi * frequency / RATE
        out += gain * lfilter([np.sin(angle)], [1.0, -2 * radius * np.cos(angle), radius**2], sound)
    return out


def strike(seconds: float, modes: Sequence[tuple[float, float, float]]) -> Sound:
    """A struck body: decaying sines of ``(frequency Hz, decay s, gain)``."""
    at = times(seconds)
    out = np.zeros_like(at)
    for frequency, decay, gain in modes:
        out += gain * np.exp(-at / decay) * np.sin(2 * np.pi * frequency * at)
    return out


def curve(seconds: float, *points: tuple[float, float]) -> Sound:
    """Straight lines through ``(time s, value)`` points."""
    where, values = zip(*points, strict=True)
    return np.interp(times(seconds), where, values)


def decay(seconds: float, time_s: float, attack_s: float = 0.001) -> Sound:
    """A quick rise and an exponential fall to 1/e in ``time_s``."""
    at = times(seconds)
    return np.minimum(at / attack_s, 1.0) * np.exp(-np.maximum(at - attack_s, 0.0) / time_s)


def wander(rng: Rng, seconds: float, rate_hz: float) -> Sound:
    """A smooth random curve of about zero mean and unit spread that changes ``rate_hz`` times a second."""
    count = max(4, int(seconds * rate_hz) + 4)
    knots = rng.standard_normal(count)
    at = times(seconds) * rate_hz
    low = np.floor(at).astype(int)
    part = at - low
    smooth = part * part * (3 - 2 * part)
    return knots[low] * (1 - smooth) + knots[low + 1] * smooth


def phase(frequency: Sound) -> Sound:
    """Cycles run through so far, of a frequency in Hz that may change from sample to sample."""
    return np.cumsum(frequency) / RATE


def sine(frequency: Sound) -> Sound:
    return np.sin(2 * np.pi * phase(frequency))


def buzz(frequency: Sound, harmonics: int, fall: float = 1.0) -> Sound:
    """Harmonics up to a number, each ``n ** -fall`` strong; those above 20 kHz are left out."""
    turned = 2 * np.pi * phase(frequency)
    top = float(np.max(frequency))
    count = max(1, min(harmonics, int(20_000 / max(top, 1.0))))
    out = np.zeros_like(turned)
    for n in range(1, count + 1):
        out += np.sin(n * turned) / n**fall
    return out


def add(into: Sound, at_s: float, sound: Sound, gain: float = 1.0) -> None:
    """Mixes ``sound`` into a longer one from ``at_s`` on; what would stand behind the end is cut off."""
    start = round(at_s * RATE)
    count = min(len(sound), len(into) - start)
    if count > 0 and start >= 0:
        into[start : start + count] += gain * sound[:count]


def scatter(rng: Rng, seconds: float, per_second: float, start_s: float = 0.0) -> Sound:
    """Random times of independent events, in seconds, in order."""
    count = rng.poisson(per_second * max(0.0, seconds - start_s))
    return np.sort(rng.uniform(start_s, seconds, count))


def grains(rng: Rng, seconds: float, per_second: float, spread: float = 1.0) -> Sound:
    """Single samples at random times and of random strength, to excite resonances with."""
    out = np.zeros(frames(seconds))
    where = rng.integers(0, len(out), rng.poisson(per_second * seconds))
    np.add.at(out, where, rng.standard_normal(len(where)) * np.exp(spread * rng.standard_normal(len(where))))
    return out


def room(rng: Rng, sound: Sound, seconds: float, wet: float, dark_hz: float = 5000.0) -> Sound:
    """``sound`` in a diffuse room of that reverberation time (to -60 dB); the tail is added behind it."""
    at = times(seconds)
    response = rng.standard_normal(len(at)) * 10 ** (-3 * at / seconds)
    response = band(response, 80.0, dark_hz)
    response /= np.sqrt(np.sum(response**2))
    tail = fftconvolve(sound, response)
    out = np.zeros(len(tail))
    out[: len(sound)] = sound
    return out + wet * tail


def wide(left: Sound, right: Sound) -> Sound:
    """Two channels side by side, as long as the shorter one."""
    count = min(len(left), len(right))
    return np.stack([left[:count], right[:count]], axis=1)


def pan(sound: Sound, position: float) -> Sound:
    """A mono sound between left (-1) and right (1), at equal power."""
    angle = (position + 1) * np.pi / 4
    return np.stack([np.cos(angle) * sound, np.sin(angle) * sound], axis=1)


def fade(sound: Sound, in_s: float = 0.005, out_s: float = 0.02) -> Sound:
    """Soft ends, so that nothing clicks."""
    ramp = np.ones(len(sound))
    first, last = min(frames(in_s), len(sound)), min(frames(out_s), len(sound))
    ramp[:first] *= np.linspace(0.0, 1.0, first)
    ramp[len(sound) - last :] *= np.linspace(1.0, 0.0, last)
    return sound * (ramp if sound.ndim == 1 else ramp[:, None])


def saturate(sound: Sound, drive: float) -> Sound:
    """Soft clipping, as of a loud source on tape."""
    return np.tanh(drive * sound / (np.max(np.abs(sound)) + 1e-12))


def level(sound: Sound, peak_db: float = -3.0) -> Sound:
    """Scaled to a peak in dBFS."""
    return sound * (10 ** (peak_db / 20) / (np.max(np.abs(sound)) + 1e-12))
