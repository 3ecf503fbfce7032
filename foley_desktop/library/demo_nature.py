"""The demo library's outdoor sounds and animals: weather, water, fire, insects, birds, a dog."""

from __future__ import annotations

import numpy as np

from foley_desktop.library.demo_synth import (
    RATE,
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
    pan,
    phase,
    resonate,
    room,
    saturate,
    scatter,
    sine,
    times,
    wander,
    wide,
)


def rain_on_roof(rng: Rng) -> Sound:
    """A dense hiss under single drops that ring the metal sheet they fall on."""
    seconds = 5.0
    sides = []
    for _ in range(2):
        hiss = band(noise(rng, seconds, 2.0), 700.0, 12_000.0) * (1 + 0.1 * wander(rng, seconds, 2.0))
        body = [(rng.uniform(350, 2600), rng.uniform(0.004, 0.02), 1.0) for _ in range(14)]
        drops = resonate(grains(rng, seconds, 420.0, 0.7), body)
        low = band(noise(rng, seconds, 4.0), 80.0, 400.0)
        sides.append(0.35 * hiss + 1.1 * drops / np.std(drops) + 0.3 * low)
    return fade(wide(*sides), 0.1, 0.3)


def rain_on_leaves(rng: Rng) -> Sound:
    """A thin drizzle: many small soft taps, hardly any hiss."""
    seconds = 5.0
    sides = []
    for _ in range(2):
        taps = band(grains(rng, seconds, 260.0, 0.9), 1800.0, 9000.0)
        big = resonate(grains(rng, seconds, 14.0, 0.6), [(900.0, 0.004, 1.0), (1700.0, 0.003, 0.7)])
        hiss = band(noise(rng, seconds, 1.0), 3000.0, 14_000.0)
        sides.append(taps / np.std(taps) + 0.8 * big / np.std(big) + 0.14 * hiss)
    return fade(wide(*sides), 0.1, 0.3)


def wind_howling(rng: Rng) -> Sound:
    """Gusts of dark noise, and whistling where they squeeze through a gap."""
    seconds = 6.0
    gust = np.clip(0.55 + 0.4 * wander(rng, seconds, 0.5), 0.05, 1.6)
    sides = []
    for side in range(2):
        body = band(noise(rng, seconds, 4.5), 60.0, 1400.0) * gust**1.5
        whistle = np.zeros(frames(seconds))
        for base, share in ((420.0, 1.0), (640.0, 0.6), (880.0, 0.35)):
            pitch = base * (0.75 + 0.35 * gust + 0.03 * wander(rng, seconds, 1.3 + side))
            breath = band(noise(rng, seconds), None, 28.0)
            whistle += share * sine(pitch) * breath / np.std(breath) * gust**2.5
        sides.append(body / np.std(body) + 0.9 * whistle / np.std(whistle))
    return fade(wide(*sides), 0.3, 0.6)


def thunder(rng: Rng) -> Sound:
    """A crack, then rumbling that rolls away."""
    seconds = 6.0
    crack = noise(rng, 0.5, 1.0) * decay(0.5, 0.07)
    out = np.zeros(frames(seconds))
    for delay, gain in ((0.0, 1.0), (0.05, 0.7), (0.13, 0.8), (0.21, 0.4)):
        add(out, 0.15 + delay, crack, gain)
    swell = np.clip(0.6 + 0.6 * wander(rng, seconds, 2.2), 0.0, 2.0)
    fall = curve(seconds, (0, 0), (0.2, 1.0), (1.0, 0.9), (3.0, 0.5), (6.0, 0.0))
    rumble = band(noise(rng, seconds, 6.0), 25.0, 260.0) * swell * fall
    out += 2.0 * rumble / np.std(rumble) * 0.5
    left = room(rng, out, 3.0, 0.6, 1500.0)[: frames(seconds)]
    right = room(rng, out, 3.0, 0.6, 1500.0)[: frames(seconds)]
    return fade(wide(left, right), 0.002, 1.0)


def drip(rng: Rng, pitch: float) -> Sound:
    """One drop into water: a bubble that rises in pitch as it closes."""
    at = times(0.16)
    rise = pitch * (1.0 + 2.2 * at / 0.16)
    ring = sine(rise) * np.exp(-at / 0.028) * np.minimum(at / 0.002, 1.0)
    return ring + 0.12 * band(noise(rng, 0.16), 3000.0, 12_000.0) * np.exp(-at / 0.003)


def water_drips(rng: Rng) -> Sound:
    """A tap drips into a filled sink, in a small tiled room."""
    out = np.zeros(frames(6.0))
    at = 0.3
    while at < 5.4:
        add(out, at, drip(rng, rng.uniform(700, 1300)), rng.uniform(0.6, 1.0))
        if rng.random() < 0.35:
            add(out, at + rng.uniform(0.07, 0.14), drip(rng, rng.uniform(1300, 2100)), 0.3)
        at += rng.uniform(0.55, 0.9)
    return fade(room(rng, out, 0.9, 0.25)[: frames(6.0)], 0.01, 0.2)


def bubbling(rng: Rng, seconds: float, per_second: float, low: float, high: float) -> Sound:
    """Bubbles of many sizes, each a short sine that rises a little."""
    out = np.zeros(frames(seconds))
    for at in scatter(rng, seconds, per_second):
        pitch = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        length = float(np.clip(30.0 / pitch, 0.012, 0.12))
        t = times(4 * length)
        bubble = sine(pitch * (1.0 + rng.uniform(0.05, 0.5) * t / length)) * np.exp(-t / length)
        add(
            out,
            float(at),
            bubble * np.minimum(t / 0.002, 1.0),
            (600.0 / pitch) ** 0.7 * rng.uniform(0.2, 1.0),
        )
    return out


def stream(rng: Rng) -> Sound:
    """A brook over stones: countless bubbles over a soft wash."""
    sides = []
    for _ in range(2):
        bubbles = bubbling(rng, 4.5, 130.0, 350.0, 3200.0)
        wash = band(noise(rng, 4.5, 2.5), 300.0, 7000.0) * (1 + 0.15 * wander(rng, 4.5, 3.0))
        sides.append(bubbles / np.std(bubbles) + 0.35 * wash / np.std(wash))
    return fade(wide(*sides), 0.1, 0.3)


def underwater_bubbles(rng: Rng) -> Sound:
    """A diver's breath: bursts of large bubbles under water."""
    out = np.zeros(frames(5.0))
    for at in (0.2, 2.5):
        burst = bubbling(rng, 1.9, 46.0, 140.0, 900.0) * curve(1.9, (0, 0.3), (0.3, 1), (1.9, 0.1))
        add(out, at, burst)
    out /= np.max(np.abs(out))
    return fade(band(out + 0.02 * noise(rng, 5.0, 5.0), None, 1800.0), 0.05, 0.4)


def ocean_waves(rng: Rng) -> Sound:
    """Two breakers on a beach: a swell of roar, then fizzing foam that runs out."""
    seconds = 6.0
    roar = sum(np.exp(-(((times(seconds) - at) / 0.95) ** 2)) for at in (1.4, 4.3))
    foam = sum(np.clip(1 - (times(seconds) - at) / 2.6, 0, 1) * (times(seconds) > at) for at in (1.8, 4.7))
    sides = []
    for _ in range(2):
        body = band(noise(rng, seconds, 4.0), 60.0, 1800.0)
        fizz = band(noise(rng, seconds, 0.5), 2500.0, 13_000.0)
        sides.append(body / np.std(body) * (0.12 + roar) + 0.28 * fizz / np.std(fizz) * (0.1 + foam))
    return fade(wide(*sides), 0.2, 0.6)


def campfire(rng: Rng) -> Sound:
    """Wood crackles and pops over a soft roar of flames."""
    seconds = 5.0
    roar = band(noise(rng, seconds, 5.0), 50.0, 500.0) * (1 + 0.3 * wander(rng, seconds, 5.0))
    crackle = band(grains(rng, seconds, 22.0, 1.3), 1200.0, 9000.0)
    out = 0.25 * roar / np.std(roar) + crackle / np.std(crackle)
    for at in scatter(rng, seconds, 2.2):
        pop = noise(rng, 0.05) * decay(0.05, rng.uniform(0.002, 0.008), 0.0003)
        add(out, float(at), band(pop, 500.0, 7000.0), rng.uniform(4.0, 11.0))
    return fade(out, 0.1, 0.2)


def songbirds(rng: Rng) -> Sound:
    """Three birds take turns in the morning: sweeps, trills and whistles."""
    out = np.zeros((frames(6.0), 2))
    for base, where, start in ((3400.0, -0.6, 0.3), (4600.0, 0.5, 1.1), (2700.0, 0.1, 2.0)):
        at = start
        while at < 5.2:
            for _ in range(int(rng.integers(3, 9))):
                length = rng.uniform(0.05, 0.14)
                bend = curve(
                    length, (0, rng.uniform(0.8, 1.2)), (length / 2, rng.uniform(0.9, 1.35)), (length, 1.0)
                )
                trill = 1 + 0.06 * np.sin(2 * np.pi * rng.uniform(25, 55) * times(length))
                note = sine(base * bend * trill) * np.hanning(frames(length))
                place = pan(note, where)
                first = round(at * RATE)
                count = min(len(place), len(out) - first)
                if count > 0:
                    out[first : first + count] += rng.uniform(0.5, 1.0) * place[:count]
                at += length + rng.uniform(0.02, 0.06)
            at += rng.uniform(0.5, 1.5)
    air = band(noise(rng, 6.0, 3.0), 200.0, 6000.0)
    left, right = (room(rng, out[:, side], 1.2, 0.2)[: frames(6.0)] for side in range(2))
    return fade(wide(left + 0.008 * air, right + 0.008 * np.roll(air, 997)), 0.05, 0.3)


def crickets(rng: Rng) -> Sound:
    """Field crickets at night: chirps of three or four pulses near 4.5 kHz, from all sides."""
    seconds = 5.0
    out = np.zeros((frames(seconds), 2))
    for _ in range(5):
        pitch, every = rng.uniform(4100, 4900), rng.uniform(0.45, 0.75)
        pulse = np.sin(2 * np.pi * pitch * times(0.016)) * np.hanning(frames(0.016))
        voice = np.zeros(frames(seconds))
        at = rng.uniform(0, every)
        while at < seconds - 0.15:
            for n in range(4):
                add(voice, at + 0.027 * n, pulse, 0.6 + 0.13 * n)
            at += every * rng.uniform(0.95, 1.05)
        out += pan(voice, rng.uniform(-0.9, 0.9)) * rng.uniform(0.25, 1.0)
    night = noise(rng, seconds, 4.0)
    return fade(out + 0.01 * wide(night, np.roll(night, 1234)), 0.1, 0.3)


def bees(rng: Rng) -> Sound:
    """A swarm: a dozen buzzing voices near 230 Hz that weave about one another."""
    seconds = 4.0
    out = np.zeros((frames(seconds), 2))
    for _ in range(12):
        pitch = rng.uniform(190, 270) * (1 + 0.03 * wander(rng, seconds, 3.0))
        near = np.clip(0.5 + 0.5 * wander(rng, seconds, 0.8), 0.05, 1.6)
        out += pan(buzz(pitch, 24, 0.9) * near, rng.uniform(-1, 1))
    return fade(band(out, 160.0, 6000.0), 0.2, 0.4)


def owl(rng: Rng) -> Sound:
    """A tawny owl at night: one long hoot, then a wavering one."""
    out = np.zeros(frames(5.5))

    def hoot(seconds: float, quaver: float) -> Sound:
        pitch = curve(seconds, (0, 390), (0.1 * seconds, 420), (seconds, 385))
        shake = 1 + quaver * np.sin(2 * np.pi * 12.0 * times(seconds))
        tone = buzz(pitch * (1 + 0.12 * (shake - 1)), 3, 2.6) + 0.05 * band(noise(rng, seconds), 350.0, 900.0)
        return tone * shake * np.sin(np.pi * np.linspace(0, 1, frames(seconds))) ** 0.6

    add(out, 0.3, hoot(0.75, 0.0))
    add(out, 2.2, hoot(0.22, 0.0), 0.5)
    add(out, 2.7, hoot(1.3, 0.5), 0.95)
    return fade(room(rng, out, 2.2, 0.35, 2500.0)[: frames(5.5)], 0.02, 0.5)


def dog_bark(rng: Rng) -> Sound:
    """A large dog barks: a rough voice through an opening mouth, four times."""
    out = np.zeros(frames(3.6))
    for at, gain in ((0.15, 0.9), (0.62, 1.0), (1.55, 0.95), (2.0, 0.85)):
        seconds = rng.uniform(0.2, 0.26)
        pitch = curve(seconds, (0, 330), (0.05, 560), (seconds, 260)) * rng.uniform(0.94, 1.06)
        rough = 1 + 0.5 * np.sign(np.sin(2 * np.pi * phase(pitch / 2)))
        voice = buzz(pitch, 40, 0.75) * rough + 0.9 * noise(rng, seconds)
        mouth = (
            band(voice, 450.0, 1100.0)
            + 0.7 * band(voice, 1200.0, 2300.0)
            + 0.15 * band(voice, 2500.0, 6000.0)
        )
        shape = curve(seconds, (0, 0), (0.02, 1), (0.09, 0.8), (seconds, 0))
        add(out, at, mouth * shape, gain)
    return fade(room(rng, saturate(out, 2.0), 0.5, 0.15)[: frames(3.6)])
