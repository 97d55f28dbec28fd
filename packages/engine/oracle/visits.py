"""
Vectors for what a block visits: R-visit-1 to R-visit-4 in docs/RULES.md, computed a second time.

    python3 packages/engine/oracle/visits.py > packages/engine/oracle/visits.json

After every block the whole life of the pool is told again from its beginning, as two lists of spans (from, to, value); nothing
is carried along. Medians are taken of those spans, and the average follows them with the decay of price.py.
"""
import json
import math
import random
import sys
from fractions import Fraction as F

from price import decay, dev, half_point, unreduced

rng = random.Random(20261118)
WINDOW = 300_000


def median_at(spans, t):
    """Of spans that follow one another; the last is open-ended. None where five minutes are not covered."""
    if not spans or t - spans[0][0] < WINDOW:
        return None
    weights = {}
    for start, end, ratio in spans:
        length = min(end, t) - max(start, t - WINDOW)
        if length > 0:
            weights[ratio] = weights.get(ratio, 0) + length
    return half_point(list(weights.items()))


def life(start, first, blocks, block_time):
    """Spans of depth, each as (from, depth), the last open-ended, and spans of ratios."""
    depth, ratio = first
    depths = [(start, depth or 0)]
    ratios = [] if ratio is None else [(start, math.inf, ratio)]
    held, entered, last = depth or 0, first, start
    for t in sorted({t for t, _ in blocks}):
        states = [state for time, states in blocks if time == t for state in states]
        visited = [entered] + states
        span = min(t - last, 1000 * math.ceil(F(block_time, 1000)))
        least = min(0 if d is None else d for d, _ in visited)
        if least != held:
            depths.append((t - span, least))
        held = held if states[-1][0] is None else states[-1][0]
        depths.append((t, held))

        final = states[-1][1]
        if ratios:
            before = ratios[-1][2]
            median = median_at(ratios, last) if t - last <= WINDOW else None
            candidates = [before] + [r for _, r in visited if r is not None]
            booked = before if median is None else min(candidates, key=lambda r: (dev(r, median), r))
            told = [(a, min(b, t - span), r) for a, b, r in ratios if a < t - span]
            told += [(t - span, t, booked)] if span > 0 else []
            told += [(t, math.inf, before if final is None else final)]
            ratios = [s for s in told if s[0] < s[1]]
        elif final is not None:
            ratios = [(t, math.inf, final)]
        entered, last = states[-1], t
    return depths, ratios


def average(depths, t):
    scaled, level, since = depths[0][1] * 2**32, depths[0][1], depths[0][0]
    for at, new in depths[1:] + [(t, None)]:
        scaled = level * 2**32 + math.floor(F((scaled - level * 2**32) * decay(at - since), 2**64))
        level, since = new, at
    return math.floor(F(scaled, 2**32))


def some_state(ratios):
    kind = rng.random()
    if kind < 0.08:
        return (0, None)
    depth = rng.choice([1, 10**6, rng.randint(0, 10**6), rng.randint(0, 10**24)])
    return (None if kind < 0.16 else depth, rng.choice(ratios))


def vectors():
    cases = []
    for case in range(120):
        block_time = rng.choice([250, 450, 1000, 2000, 12_000, 12_048])
        # Ratios that are as far from a median of 1 on either side, now and then.
        ratios = [F(1), F(3, 2), F(2, 3)] + [F(rng.randint(1, 40), rng.randint(1, 40)) for _ in range(2)]
        t = start = rng.randint(10**9, 2 * 10**9) * 1000
        first = (rng.randint(0, 10**24), rng.choice(ratios)) if case % 5 else (0, None)
        blocks, told = [], []
        for n in range(rng.randint(3, 14)):
            gap = rng.choice([0, 0, 1000, 2000, 12_000, 13_000, 24_000, 60_000, 299_000, 300_000, 301_000])
            t += 400_000 if n == 0 and case % 3 == 0 else gap
            states = [some_state(ratios) for _ in range(rng.randint(1, 4))]
            blocks.append((t, states))
            depths, spans = life(start, first, blocks, block_time)
            ahead = rng.choice([0, 1, 7_000, 100_000, 350_000])
            median = median_at(spans, t + ahead)
            told.append(
                {
                    "t": t,
                    "states": [[None if d is None else str(d), None if r is None else unreduced(r)] for d, r in states],
                    "at": t + ahead,
                    "average": str(average(depths, t + ahead)),
                    "median": None if median is None else f"{median.numerator}/{median.denominator}",
                }
            )
        cases.append(
            {
                "block_time": block_time,
                "start": start,
                "depth": str(first[0]),
                "ratio": None if first[1] is None else unreduced(first[1]),
                "blocks": told,
            }
        )
    return cases


if __name__ == "__main__":
    body = ",\n".join("  " + json.dumps(case, separators=(",", ":")) for case in vectors())
    sys.stdout.write(f"[\n{body}\n]\n")
