"""The demo library's foley: footsteps, doors, hands, glass, cloth, small objects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from foley_desktop.library.demo_synth import (
    Rng,
    Sound,
    add,
    band,
    buzz,
    curve,
    decay,
    fade,
    frames,
    grains,
    noise,
    resonate,
    room,
    scatter,
    sine,
    strike,
    times,
    wander,
    wide,
)


def steps(rng: Rng, count: int, every_s: float, one: Callable[[float], Sound]) -> Sound:
    """Footsteps: ``one(strength)`` makes the sound of a single step."""
    out = np.zeros(frames(0.5 + count * every_s + 0.4))
    for n in range(count):
        at = 0.2 + n * every_s + rng.uniform(-0.02, 0.02)
        add(out, at, one(rng.uniform(0.8, 1.0)))
    return fade(out)


def gravel(rng: Rng) -> Sound:
    """Boots on loose gravel: heel and toe each set hundreds of stones grinding."""

    def one(strength: float) -> Sound:
        seconds = 0.42
        crunch = curve(seconds, (0, 0), (0.03, 1), (0.12, 0.35), (0.2, 0.85), (0.42, 0))
        stones = band(grains(rng, seconds, 2600.0, 1.0), 900.0, 9500.0)
        thud = strike(seconds, [(75.0, 0.03, 0.6), (130.0, 0.02, 0.3)])
        return strength * (stones / np.std(stones) * crunch + thud)

    return steps(rng, 6, 0.58, one)


def snow(rng: Rng) -> Sound:
    """Boots in dry snow: a soft thump and a squeaking creak as it is pressed together."""

    def one(strength: float) -> Sound:
        seconds = 0.5
        press = curve(seconds, (0, 0), (0.05, 0.8), (0.22, 1.0), (0.5, 0))
        creak = grains(rng, seconds, 420.0, 0.5)
        squeak = resonate(creak, [(1150.0, 0.004, 1.0), (1900.0, 0.003, 0.9), (2900.0, 0.002, 0.6)])
        powder = band(noise(rng, seconds, 2.0), 400.0, 5000.0)
        return strength * press * (squeak / np.std(squeak) + 0.6 * powder / np.std(powder))

    return steps(rng, 5, 0.75, one)


def wooden_floor(rng: Rng) -> Sound:
    """Shoes on a wooden floor: hollow knocks of the boards, now and then a creak."""

    def one(strength: float) -> Sound:
        boards = [(f * rng.uniform(0.96, 1.04), d, g) for f, d, g in ((95, 0.06, 1.0), (190, 0.05, 0.7))]
        shoe = [(f * rng.uniform(0.95, 1.05), d, g) for f, d, g in ((430, 0.025, 0.45), (980, 0.012, 0.25))]
        hit = strike(0.35, boards + shoe) + 0.3 * band(noise(rng, 0.35), 800.0, 5000.0) * decay(0.35, 0.006)
        out = np.zeros(frames(0.45))
        add(out, 0.0, hit, strength)
        add(out, 0.085, hit, 0.45 * strength)
        return out

    return room(rng, steps(rng, 6, 0.6, one), 0.6, 0.12)


def heels_on_concrete(rng: Rng) -> Sound:
    """High heels on concrete in a stairwell: sharp clicks with a long echo."""

    def one(strength: float) -> Sound:
        click = strike(
            0.2, [(1900.0, 0.008, 0.7), (3300.0, 0.005, 0.6), (5200.0, 0.003, 0.4), (310.0, 0.012, 0.4)]
        )
        return strength * (click + 0.5 * band(noise(rng, 0.2), 2000.0, 12_000.0) * decay(0.2, 0.003, 0.0003))

    return fade(room(rng, steps(rng, 7, 0.46, one), 1.1, 0.1), 0.005, 0.4)


def knock(rng: Rng) -> Sound:
    """Knuckles on a wooden door, three times: low panel modes and a short bony click."""
    out = np.zeros(frames(2.4))
    panel = [
        (118.0, 0.07, 1.0),
        (205.0, 0.05, 0.8),
        (330.0, 0.035, 0.5),
        (560.0, 0.02, 0.35),
        (910.0, 0.012, 0.2),
    ]
    for at, gain in ((0.2, 0.85), (0.48, 1.0), (0.75, 0.9)):
        hit = strike(0.4, [(f * rng.uniform(0.98, 1.02), d, g) for f, d, g in panel])
        click = band(noise(rng, 0.4), 1500.0, 6000.0) * decay(0.4, 0.004, 0.0003)
        add(out, at, hit + 0.35 * click, gain)
    return fade(room(rng, out, 0.7, 0.2)[: frames(2.4)])


def door_creak(rng: Rng) -> Sound:
    """A wooden door opens slowly on dry hinges: stick and slip, slower and faster."""
    seconds = 3.6
    rate = 55 + 45 * np.clip(wander(rng, seconds, 2.2), -1, 2) + curve(seconds, (0, 0), (1.6, 90), (3.6, -15))
    turned = np.cumsum(np.clip(rate, 12, None)) / 48_000
    slips = np.diff(np.floor(turned), prepend=0.0) * rng.uniform(0.6, 1.0, frames(seconds))
    wood = [
        (310.0, 0.012, 0.6),
        (620.0, 0.012, 1.0),
        (1040.0, 0.008, 0.9),
        (1730.0, 0.006, 0.6),
        (2700.0, 0.004, 0.35),
    ]
    moving = curve(seconds, (0, 0), (0.15, 0.7), (1.4, 1.0), (2.9, 0.8), (3.5, 0.0), (3.6, 0.0))
    return fade(room(rng, resonate(slips * moving, wood), 0.9, 0.2)[: frames(seconds)], 0.01, 0.2)


def door_slam(rng: Rng) -> Sound:
    """A heavy wooden door falls shut: boom of the leaf, clatter of the latch, echo of the hall."""
    out = np.zeros(frames(2.6))
    boom = strike(0.9, [(62.0, 0.16, 1.0), (104.0, 0.11, 0.8), (171.0, 0.07, 0.6), (290.0, 0.04, 0.4)])
    slap = band(noise(rng, 0.9, 2.0), 120.0, 4500.0) * decay(0.9, 0.03, 0.0005)
    add(out, 0.2, boom + 0.8 * slap)
    latch = strike(0.15, [(1400.0, 0.01, 0.5), (2350.0, 0.008, 0.4), (3900.0, 0.006, 0.3)])
    add(out, 0.17, latch, 0.35)
    add(out, 0.27, latch, 0.5)
    return fade(room(rng, out, 1.8, 0.3, 3000.0)[: frames(2.6)], 0.005, 0.4)


def glass_break(rng: Rng) -> Sound:
    """A window pane is smashed: one crack, then shards that ring as they fall."""
    out = np.zeros(frames(2.8))
    add(out, 0.1, band(noise(rng, 0.3), 1500.0, 16_000.0) * decay(0.3, 0.02, 0.0003), 1.6)
    add(out, 0.1, strike(0.3, [(240.0, 0.03, 0.8), (480.0, 0.02, 0.5)]))
    for n, at in enumerate(np.sort(0.12 + rng.gamma(1.6, 0.28, 130))):
        base = rng.uniform(2200, 7600)
        shard = strike(
            0.35, [(base * r, rng.uniform(0.01, 0.07), 1 / r) for r in (1.0, 1.51, 2.23) if base * r < 20_000]
        )
        add(out, float(at), shard, rng.uniform(0.1, 0.6) * np.exp(-n / 90))
    return fade(room(rng, out, 0.6, 0.12, 9000.0)[: frames(2.8)], 0.005, 0.4)


def coins(rng: Rng) -> Sound:
    """Coins are dropped on a table; the last one spins to rest."""
    out = np.zeros(frames(2.8))

    def clink(gain: float) -> Sound:
        base = rng.uniform(3600, 5400)
        ring = strike(
            0.4,
            [
                (base * r, d, g)
                for r, d, g in ((1, 0.09, 1.0), (1.62, 0.07, 0.7), (2.31, 0.05, 0.5), (3.1, 0.03, 0.3))
            ],
        )
        return gain * (ring + 0.3 * strike(0.4, [(190.0, 0.02, 1.0)]))

    for start in (0.15, 0.3, 0.38, 0.55):
        at, gap, gain = start, rng.uniform(0.13, 0.2), 1.0
        while gap > 0.012 and at < 2.6:
            add(out, at, clink(gain))
            at, gap, gain = at + gap, 0.72 * gap, 0.68 * gain
    at, gap = 0.9, 0.085
    while at < 2.4:
        add(out, at, clink(0.16))
        at, gap = at + gap, max(0.011, gap * 0.93)
    return fade(out)


def zipper(rng: Rng) -> Sound:
    """A zip is closed fast, then opened: teeth in quick succession, faster and slower."""
    out = np.zeros(frames(2.2))
    for start, low, high in ((0.15, 90.0, 260.0), (1.2, 240.0, 110.0)):
        seconds = 0.75
        rate = curve(seconds, (0, low), (0.6, high), (0.75, 0.8 * high))
        teeth = np.diff(np.floor(np.cumsum(rate) / 48_000), prepend=0.0) * rng.uniform(
            0.5, 1.0, frames(seconds)
        )
        metal = resonate(teeth, [(2600.0, 0.0015, 1.0), (4300.0, 0.001, 0.9), (7100.0, 0.0008, 0.7)])
        cloth = band(noise(rng, seconds), 1500.0, 9000.0) * 0.12 * rate / np.max(rate)
        add(out, start, fade(metal / np.max(np.abs(metal)) + cloth, 0.02, 0.04))
    return out


def typing(rng: Rng) -> Sound:
    """Fast typing on a computer keyboard: key down, key up, now and then the space bar."""
    out = np.zeros(frames(4.0))
    at = 0.2
    while at < 3.7:
        space = rng.random() < 0.16
        body = [(rng.uniform(280, 420), 0.012, 0.9)] if space else [(rng.uniform(750, 1300), 0.006, 0.5)]
        click = band(noise(rng, 0.08), 2200.0, 9500.0) * decay(0.08, rng.uniform(0.003, 0.006), 0.0004)
        down = click + strike(0.08, [*body, (rng.uniform(2600, 3600), 0.004, 0.4)])
        add(out, at, down, rng.uniform(0.6, 1.0))
        add(out, at + rng.uniform(0.06, 0.1), down, rng.uniform(0.2, 0.35))
        at += rng.choice([0.09, 0.12, 0.15, 0.19, 0.42], p=[0.3, 0.3, 0.2, 0.12, 0.08]) * rng.uniform(
            0.85, 1.2
        )
    return fade(out)


def clock_tick(rng: Rng) -> Sound:
    """A mantelpiece clock: tick and tock, twice a second, in a wooden case."""
    out = np.zeros(frames(4.0))
    for n in range(7):
        pitch = 1.0 if n % 2 == 0 else 0.82
        case = [
            (2350.0 * pitch, 0.006, 0.8),
            (3900.0 * pitch, 0.004, 0.6),
            (780.0 * pitch, 0.02, 0.45),
            (410.0, 0.03, 0.25),
        ]
        tick = strike(0.2, case) + 0.5 * band(noise(rng, 0.2), 3000.0, 12_000.0) * decay(0.2, 0.0015, 0.0002)
        add(out, 0.25 + 0.5 * n, tick)
        add(out, 0.25 + 0.5 * n + 0.018, tick, 0.3)
    return fade(room(rng, out, 0.5, 0.1)[: frames(4.0)])


def heartbeat(rng: Rng) -> Sound:
    """A heart at rest, as through a stethoscope: lub-dub."""
    out = np.zeros(frames(5.0))
    for n in range(5):
        at = 0.3 + 0.92 * n
        add(out, at, strike(0.3, [(48.0, 0.07, 1.0), (76.0, 0.045, 0.6), (120.0, 0.02, 0.25)]))
        add(out, at + 0.3, strike(0.25, [(62.0, 0.045, 0.75), (95.0, 0.03, 0.45)]))
    hiss = band(noise(rng, 5.0, 4.0), 30.0, 250.0)
    return fade(band(out, 25.0, 400.0) + 0.01 * hiss / np.std(hiss), 0.05, 0.2)


def applause(rng: Rng) -> Sound:
    """An audience claps: some two hundred pairs of hands, each with its own pace and pitch."""
    seconds = 5.0
    out = np.zeros((frames(seconds), 2))
    claps = []
    for _ in range(24):
        centre = rng.uniform(700, 2400)
        burst = band(noise(rng, 0.06), 0.6 * centre, min(2.2 * centre, 16_000.0)) * decay(0.06, 0.008, 0.0006)
        claps.append(burst / np.max(np.abs(burst)))
    for _ in range(200):
        every, at = rng.uniform(0.17, 0.3), rng.uniform(0.0, 0.9)
        stop, near, where = rng.uniform(2.8, 4.8), rng.uniform(0.15, 1.0) ** 1.5, rng.uniform(0, np.pi / 2)
        clap = claps[int(rng.integers(len(claps)))]
        while at < stop:
            for side, gain in ((0, np.cos(where)), (1, np.sin(where))):
                add(out[:, side], at, clap, near * gain * rng.uniform(0.7, 1.0))
            at += every * rng.uniform(0.9, 1.1)
    left, right = (room(rng, out[:, side], 1.5, 0.25)[: frames(seconds)] for side in range(2))
    return fade(wide(left, right), 0.05, 0.5)


def scream(rng: Rng) -> Sound:
    """A frightened scream: a high rough voice that rises, breaks and falls."""
    seconds = 1.9
    pitch = curve(seconds, (0, 620), (0.18, 1080), (1.1, 1180), (1.6, 980), (1.9, 640))
    pitch *= 1 + 0.012 * np.sin(2 * np.pi * 7.0 * times(seconds)) + 0.012 * wander(rng, seconds, 30.0)
    voice = buzz(pitch, 14, 0.5) + 0.5 * noise(rng, seconds)
    mouth = (
        1.0 * band(voice, 900.0, 1500.0)
        + 0.8 * band(voice, 1700.0, 3400.0)
        + 0.25 * band(voice, 3600.0, 8000.0)
    )
    shape = curve(seconds, (0, 0), (0.08, 0.7), (0.3, 1.0), (1.4, 0.9), (1.9, 0.0))
    rough = 1 + 0.35 * np.sin(2 * np.pi * 70.0 * times(seconds) + 2 * wander(rng, seconds, 12.0))
    return fade(room(rng, mouth * shape * rough, 1.2, 0.2), 0.005, 0.4)


def hammer(rng: Rng) -> Sound:
    """A hammer drives a nail into wood; the pitch rises with every blow."""
    out = np.zeros(frames(2.8))
    for n in range(4):
        up = 1.0 + 0.09 * n
        nail = [(1750.0 * up, 0.02, 0.5), (3150.0 * up, 0.016, 0.45), (4900.0 * up, 0.01, 0.3)]
        hit = strike(0.35, [(160.0, 0.035, 1.0), (320.0, 0.02, 0.5), *nail])
        add(
            out,
            0.2 + 0.55 * n,
            hit + 0.5 * band(noise(rng, 0.35), 1000.0, 9000.0) * decay(0.35, 0.004, 0.0003),
        )
    return fade(room(rng, out, 0.5, 0.12)[: frames(2.8)])


def handsaw(rng: Rng) -> Sound:
    """A hand saw in a board: strokes to and fro, the teeth a rasping buzz."""
    out = np.zeros(frames(4.2))
    for n in range(6):
        push = n % 2 == 0
        seconds = 0.55
        rate = curve(seconds, (0, 60), (0.25, 190 if push else 150), (0.55, 70))
        teeth = np.diff(np.floor(np.cumsum(rate) / 48_000), prepend=0.0) * rng.uniform(
            0.4, 1.0, frames(seconds)
        )
        rasp = resonate(teeth, [(520.0, 0.006, 0.8), (1350.0, 0.004, 1.0), (2900.0, 0.002, 0.8)])
        dust = band(noise(rng, seconds, 1.0), 1200.0, 10_000.0) * rate / 190
        stroke = rasp / np.std(rasp) + 0.8 * dust / np.std(dust)
        shape = curve(seconds, (0, 0), (0.12, 1), (0.42, 0.9), (0.55, 0))
        add(out, 0.2 + 0.62 * n, stroke * shape, 1.0 if push else 0.6)
    return fade(out)


def sword(rng: Rng) -> Sound:
    """Two blades clash: bright partials that beat against each other, and a scrape."""
    out = np.zeros(frames(2.4))
    for at, gain in ((0.15, 1.0), (0.75, 0.8)):
        partials = []
        for f, d in ((1130, 0.35), (1870, 0.5), (2790, 0.42), (3920, 0.3), (5230, 0.22), (7100, 0.14)):
            partials += [(f * rng.uniform(0.98, 1.02), d, 0.6), (f * rng.uniform(1.001, 1.006), d, 0.5)]
        hit = strike(1.5, partials) + 3.0 * band(noise(rng, 1.5), 2500.0, 15_000.0) * decay(
            1.5, 0.012, 0.0003
        )
        add(out, at, hit, gain)
    scrape = resonate(grains(rng, 0.4, 3000.0, 0.4), [(3300.0, 0.01, 1.0), (5100.0, 0.008, 0.8)])
    add(out, 0.85, fade(scrape / np.max(np.abs(scrape)), 0.05, 0.2), 1.2)
    return fade(room(rng, out, 0.9, 0.15, 9000.0)[: frames(2.4)], 0.003, 0.3)


def paper(rng: Rng) -> Sound:
    """A sheet of paper is crumpled into a ball: dry crackles in bursts."""
    seconds = 2.6
    busy = np.clip(0.5 + 0.9 * wander(rng, seconds, 5.0), 0.0, 2.0) * curve(
        seconds, (0, 0), (0.2, 1), (2.2, 0.8), (2.6, 0)
    )
    crackle = band(grains(rng, seconds, 1500.0, 1.3), 1800.0, 13_000.0)
    return fade(crackle * busy, 0.02, 0.1)


def splash(rng: Rng) -> Sound:
    """A stone falls into a pond: a slap, the plunge, and drops that rain back."""
    out = np.zeros(frames(2.4))
    add(out, 0.15, band(noise(rng, 0.8, 1.5), 250.0, 9000.0) * decay(0.8, 0.16, 0.004))
    t = times(0.3)
    add(out, 0.22, sine(150 + 500 * t) * np.exp(-t / 0.06) * np.minimum(t / 0.01, 1.0), 0.9)
    for at in 0.35 + scatter(rng, 1.6, 34.0):
        pitch = rng.uniform(900, 3200)
        t = times(0.05)
        add(
            out,
            float(at),
            sine(pitch * (1 + 4 * t)) * np.exp(-t / 0.009),
            0.3 * np.exp(-(float(at) - 0.35) / 0.6),
        )
    return fade(out, 0.003, 0.3)
