"""The demo library's machines, alarms, weapons and made-up sounds."""

from __future__ import annotations

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
    noise,
    phase,
    resonate,
    room,
    saturate,
    sine,
    strike,
    times,
    wander,
    wide,
)


def engine_idle(rng: Rng) -> Sound:
    """A car engine idles: four uneven ignitions a cycle through an exhaust, and the valve gear above."""
    seconds = 5.0
    turned = phase(25.0 * (1 + 0.015 * wander(rng, seconds, 4.0)))
    firing = np.diff(np.floor(turned), prepend=0.0)
    where = np.flatnonzero(firing)
    pulses = np.zeros(frames(seconds))
    pulses[where] = np.array([1.0, 0.82, 0.93, 0.76])[np.arange(len(where)) % 4] * rng.uniform(
        0.9, 1.1, len(where)
    )
    exhaust = resonate(
        pulses, [(48.0, 0.03, 1.0), (96.0, 0.022, 0.9), (165.0, 0.014, 0.6), (290.0, 0.008, 0.35)]
    )
    puff = band(noise(rng, seconds, 2.0), 120.0, 2500.0) * resonate(pulses, [(20.0, 0.012, 1.0)])
    valves = resonate(np.roll(pulses, 700), [(1900.0, 0.002, 1.0), (3200.0, 0.0015, 0.7)])
    out = exhaust / np.std(exhaust) + 0.35 * puff / np.std(puff) + 0.12 * valves / np.std(valves)
    return fade(band(out, 25.0, None), 0.1, 0.3)


def siren(rng: Rng) -> Sound:
    """A police siren wails up and down in the street."""
    seconds = 5.0
    turn = (times(seconds) / 3.1) % 1.0
    pitch = 650 + 800 * np.where(
        turn < 0.4, np.sin(np.pi / 2 * turn / 0.4), np.cos(np.pi / 2 * (turn - 0.4) / 0.6)
    )
    horn = band(saturate(buzz(pitch, 18, 0.8), 2.0), 500.0, 5000.0)
    left, right = (room(rng, horn, 1.4, 0.3, 3500.0)[: frames(seconds)] for _ in range(2))
    return fade(wide(left, right), 0.1, 0.5)


def train_horn(rng: Rng) -> Sound:
    """A diesel train's five-chime air horn, long and long again, in open country."""
    out = np.zeros(frames(5.5))
    for at, seconds in ((0.2, 1.6), (2.2, 2.2)):
        chord = np.zeros(frames(seconds))
        for pitch in (311.1, 370.0, 415.3, 493.9, 622.3):
            slide = curve(seconds, (0, 0.97), (0.12, 1.0), (seconds - 0.15, 1.0), (seconds, 0.96))
            chord += buzz(pitch * slide * (1 + 0.002 * wander(rng, seconds, 5.0)), 20, 0.85)
        breath = 2.5 * band(noise(rng, seconds), 800.0, 5000.0)
        shape = curve(seconds, (0, 0), (0.12, 1), (seconds - 0.2, 0.95), (seconds, 0))
        add(out, at, (band(chord, 250.0, 4500.0) + 0.15 * breath) * shape)
    return fade(room(rng, out, 3.0, 0.35, 2500.0)[: frames(5.5)], 0.05, 0.6)


def car_horn(rng: Rng) -> Sound:
    """A car horn, two short and one long: two tones a third apart."""
    out = np.zeros(frames(2.6))
    for at, seconds in ((0.15, 0.22), (0.5, 0.22), (0.95, 1.1)):
        tone = buzz(np.full(frames(seconds), 415.0), 26, 0.55) + buzz(
            np.full(frames(seconds), 523.0), 26, 0.55
        )
        add(out, at, fade(saturate(band(tone, 350.0, 6000.0), 2.0), 0.015, 0.03))
    return fade(room(rng, out, 1.0, 0.15, 4000.0)[: frames(2.6)])


def helicopter(rng: Rng) -> Sound:
    """A helicopter passes overhead: slapping blades, turbine whine, nearer and farther."""
    seconds = 6.0
    turned = phase(np.full(frames(seconds), 12.5))
    slap = np.exp(-(((turned % 1.0) - 0.5) ** 2) / 0.004)
    chop = band(noise(rng, seconds, 3.0), 60.0, 2500.0) * (0.12 + slap)
    thump = band(slap - np.mean(slap), 20.0, 160.0)
    whine = buzz(np.full(frames(seconds), 780.0) * (1 + 0.002 * wander(rng, seconds, 3.0)), 5, 1.5)
    near = curve(seconds, (0, 0.25), (2.8, 1.0), (6, 0.2))
    out = (chop / np.std(chop) + 1.2 * thump / np.std(thump) + 0.06 * whine) * near
    left, right = out * curve(seconds, (0, 1.0), (6, 0.5)), out * curve(seconds, (0, 0.5), (6, 1.0))
    return fade(wide(left, right), 0.3, 0.6)


def church_bell(rng: Rng) -> Sound:
    """A church bell tolls three times: hum, prime, minor third, fifth, nominal."""
    out = np.zeros(frames(7.5))
    nominal = 440.0
    ratios = [(0.25, 3.2, 0.5), (0.5, 2.6, 0.8), (0.6, 2.0, 0.7), (0.75, 1.5, 0.4), (1.0, 1.6, 1.0)]
    ratios += [(1.5, 0.9, 0.5), (2.0, 0.6, 0.35), (2.67, 0.4, 0.25), (3.4, 0.25, 0.15)]
    for at in (0.2, 2.4, 4.6):
        partials = []
        for r, d, g in ratios:
            partials += [(nominal * r, d, 0.6 * g), (nominal * r * 1.0025, d, 0.4 * g)]
        clapper = 1.5 * band(noise(rng, 3.0), 1500.0, 9000.0) * decay(3.0, 0.01, 0.0005)
        add(out, at, strike(3.0, partials) * curve(3.0, (0, 1), (2.6, 1), (3.0, 0)) + clapper)
    return fade(room(rng, out, 2.5, 0.25, 4000.0)[: frames(7.5)], 0.005, 0.8)


def doorbell(rng: Rng) -> Sound:
    """An electric door chime: ding, dong."""
    out = np.zeros(frames(3.0))
    for at, pitch in ((0.15, 659.3), (0.85, 523.3)):
        bar = [
            (pitch, 0.7, 1.0),
            (pitch * 2.76, 0.25, 0.35),
            (pitch * 5.4, 0.1, 0.2),
            (pitch * 1.003, 0.7, 0.4),
        ]
        add(out, at, strike(2.0, bar))
    return fade(room(rng, out, 0.8, 0.12)[: frames(3.0)], 0.003, 0.5)


def phone_ring(rng: Rng) -> Sound:
    """An old telephone rings twice: a clapper between two small gongs."""
    out = np.zeros(frames(4.6))
    gongs = [
        [(f * r, d, g) for r, d, g in ((1, 0.22, 1.0), (2.4, 0.12, 0.6), (4.1, 0.06, 0.35))]
        for f in (1180, 1420)
    ]
    for start in (0.2, 2.6):
        for n in range(28):
            ring = strike(0.5, gongs[n % 2]) + 0.3 * band(noise(rng, 0.5), 2000.0, 9000.0) * decay(0.5, 0.003)
            add(out, start + 0.05 * n, ring, rng.uniform(0.85, 1.0))
    return fade(room(rng, out, 0.5, 0.1)[: frames(4.6)], 0.003, 0.3)


def alarm_beep(rng: Rng) -> Sound:
    """A digital alarm clock: groups of four short high beeps."""
    out = np.zeros(frames(4.0))
    beep = fade(saturate(buzz(np.full(frames(0.07), 2050.0), 5, 1.2), 3.0), 0.003, 0.004)
    for group in range(4):
        for n in range(4):
            add(out, 0.15 + group * 0.95 + n * 0.125, beep)
    return out + 1e-4 * noise(rng, 4.0)


def ui_click(rng: Rng) -> Sound:
    """A soft click for a button of an interface."""
    click = strike(0.12, [(1850.0, 0.006, 1.0), (2900.0, 0.004, 0.6), (900.0, 0.01, 0.3)])
    return fade(
        click + 0.2 * band(noise(rng, 0.12), 3000.0, 12_000.0) * decay(0.12, 0.0012, 0.0002), 0.0005, 0.01
    )


def ui_success(rng: Rng) -> Sound:
    """Two rising glassy tones that confirm something."""
    out = np.zeros(frames(1.2))
    for at, pitch in ((0.05, 880.0), (0.17, 1318.5)):
        add(out, at, strike(1.0, [(pitch, 0.25, 1.0), (pitch * 2, 0.12, 0.4), (pitch * 3.01, 0.06, 0.2)]))
    return fade(out + 1e-5 * noise(rng, 1.2), 0.002, 0.2)


def whoosh(rng: Rng) -> Sound:
    """Something large and fast passes close by, from left to right."""
    seconds = 1.6
    near = np.exp(-(((times(seconds) - 0.75) / 0.26) ** 2))
    air = noise(rng, seconds, 1.5)
    parts = [band(air, low, high) for low, high in ((100, 400), (400, 1200), (1200, 4000), (4000, 11_000))]
    out = sum(near ** (0.8 + 0.7 * n) * part / np.std(part) for n, part in enumerate(parts))
    across = curve(seconds, (0, 0.1), (seconds, 0.9)) * np.pi / 2
    return fade(wide(out * np.cos(across), out * np.sin(across)), 0.02, 0.1)


def laser(rng: Rng) -> Sound:
    """A space pistol, three shots: a falling tone with a metallic edge."""
    out = np.zeros(frames(2.2))
    for at in (0.1, 0.6, 1.1):
        seconds = 0.42
        pitch = 280 + 3400 * np.exp(-times(seconds) / 0.07)
        tone = sine(pitch + 900 * np.exp(-times(seconds) / 0.05) * np.sin(2 * np.pi * 190 * times(seconds)))
        add(out, at, tone * decay(seconds, 0.12, 0.002) + 0.2 * noise(rng, seconds) * decay(seconds, 0.01))
    return fade(room(rng, out, 0.7, 0.15)[: frames(2.2)])


def explosion(rng: Rng) -> Sound:
    """A large explosion: blast, boom, and debris that patters down."""
    seconds = 5.5
    out = np.zeros(frames(seconds))
    blast = saturate(noise(rng, 2.5, 2.0) * decay(2.5, 0.22, 0.001), 4.0)
    add(out, 0.1, band(blast, 40.0, 9000.0))
    t = times(2.5)
    add(out, 0.1, sine(95 * np.exp(-t / 0.9) + 26) * np.exp(-t / 0.7), 1.6)
    rumble = band(noise(rng, seconds, 6.0), 25.0, 220.0) * curve(seconds, (0, 0), (0.2, 1), (5.5, 0))
    out += 0.5 * rumble / np.std(rumble) * 0.4
    for at in 0.6 + rng.gamma(1.5, 0.7, 160):
        stone = band(noise(rng, 0.05), 400.0, rng.uniform(1500, 7000)) * decay(
            0.05, rng.uniform(0.003, 0.012)
        )
        add(out, float(at), stone, 0.1 * rng.uniform(0.2, 1.0) * float(np.exp(-at / 2.5)))
    left, right = (room(rng, out, 2.6, 0.3, 1800.0)[: frames(seconds)] for _ in range(2))
    return fade(wide(left, right), 0.002, 0.8)


def gunshot(rng: Rng) -> Sound:
    """A pistol shot in the open, with its echo from a wall."""
    out = np.zeros(frames(2.6))
    crack = saturate(noise(rng, 0.5) * decay(0.5, 0.02, 0.0002), 5.0)
    shot = band(crack, 150.0, 12_000.0) + 1.2 * strike(0.5, [(90.0, 0.05, 1.0), (155.0, 0.03, 0.6)])
    add(out, 0.1, shot)
    add(out, 0.42, band(shot, None, 1800.0), 0.22)
    return fade(room(rng, out, 1.8, 0.22, 2500.0)[: frames(2.6)], 0.001, 0.5)


def power_drill(rng: Rng) -> Sound:
    """An electric drill spins up, bites into wood and lets go."""
    seconds = 4.0
    speed = curve(
        seconds,
        (0, 0),
        (0.2, 0),
        (0.5, 1.0),
        (1.2, 1.0),
        (1.4, 0.78),
        (2.9, 0.74),
        (3.1, 1.0),
        (3.4, 1.0),
        (3.9, 0.0),
        (4, 0),
    )
    motor = buzz(12 + 330 * speed, 30, 0.6) + 0.12 * buzz(20 + 1480 * speed, 6, 1.0)
    motor += 0.8 * noise(rng, seconds, 2.0) * speed
    load = curve(seconds, (0, 0), (1.2, 0), (1.4, 1), (2.9, 1), (3.05, 0), (4, 0))
    bite = 2.5 * band(noise(rng, seconds, 1.5), 300.0, 6000.0) * load * (1 + 0.5 * wander(rng, seconds, 25.0))
    return fade(band(motor, 120.0, 8000.0) * np.minimum(speed * 4, 1.0) + 1.2 * bite, 0.01, 0.1)
