"""
Vectors for price/: what the rules from R-average-1 to R-dispute-5 in docs/RULES.md say, computed a second time.

    python3 packages/engine/oracle/price.py > packages/engine/oracle/price.json

Only integers and fractions. The formulation is the definition, not the engine's: a median is the least value
whose down-set carries half of the weight, an average is interpolated on Fractions where the contract does not
prescribe the rounding, a band is an interval that contains the value, a next change is the earliest of all
candidate times. Nothing here knows the order in which the engine walks its data.
"""
import json
import math
import random
import sys
from fractions import Fraction as F

rng = random.Random(20251115)
WINDOW = 300_000


def text(value: F) -> str:
    return f"{value.numerator}/{value.denominator}"


def unreduced(value: F) -> list:
    """The same value with a common factor, since the engine must not rely on reduction."""
    factor = rng.choice([1, 1, 2, 3, 10**6, 2**96])
    return [str(value.numerator * factor), str(value.denominator * factor)]


# --- medians, MADw, tau, consensus -----------------------------------------------------------------------


def half_point(values_and_weights):
    """The least value v with 2 * weight{x <= v} >= weight{all}."""
    total = sum(w for _, w in values_and_weights)
    heavy = [v for v, _ in values_and_weights if 2 * sum(w for x, w in values_and_weights if x <= v) >= total]
    return min(heavy)


def dev(p: F, q: F) -> F:
    return 10_000 * (max(p / q, q / p) - 1)


def tau_of(mad: F) -> int:
    return sorted([200, math.ceil(F(22239, 5000) * mad), 1000])[1]


def judge(observations):
    total = sum(o["weight"] for o in observations)
    if total == 0:
        return None
    rank = {o["id"]: (o["price"], o["id"]) for o in observations}
    m0 = half_point([(rank[o["id"]], o["weight"]) for o in observations])
    mad = half_point([(dev(o["price"], m0[0]), o["capacity"]) for o in observations])
    tau = tau_of(mad)
    inside = [o for o in observations if dev(o["price"], m0[0]) <= tau]
    outside = [o for o in observations if o not in inside]
    kept = sum(o["weight"] for o in inside)
    sound = (
        F(kept, total) >= F(67, 100)
        and len({o["pool"] for o in inside}) >= 2
        and len({o["deployment"] for o in inside}) >= 2
    )
    unresolved = bool(outside) and not sound
    if unresolved:
        inside, outside, kept = observations, [], total
    ranked = sorted(inside, key=lambda o: rank[o["id"]])
    return {
        "m0": m0[1],
        "mad": text(mad),
        "tau": str(tau),
        "rejected": sorted(o["id"] for o in outside),
        "unresolved": unresolved,
        "selected": half_point([(rank[o["id"]], o["weight"]) for o in inside])[1],
        "kept": str(kept),
        "total": str(total),
        "spread": text(max(dev(o["price"], m0[0]) for o in inside)),
        "low": ranked[0]["id"],
        "high": ranked[-1]["id"],
    }


def consensus_vectors():
    vectors = []
    for case in range(130):
        n = rng.choice([1, 2, 2, 3, 3, 4, 5, 6, 8, 12])
        even = case % 3 == 0
        centre = F(rng.randint(1, 10**12), rng.randint(1, 10**12))
        width = rng.choice([80, 150, 200, 300] if even else [0, 5, 40, 250, 800, 3000])
        observations = []
        for i in range(n):
            drift = rng.randint(-width, width)
            if rng.random() < 0.15:
                drift = rng.choice([-6000, -1500, -200, 200, 1000, 1001, 3000, 90_000])
            # On the boundary itself now and then: dev_bps of exactly the drift, upwards or downwards.
            step = F(10_000 + abs(drift), 10_000)
            price = centre * step if drift >= 0 else centre / step
            weight = rng.randint(50, 150) if even else rng.choice([0, 1, 33, 67, 100, rng.randint(1, 10**13)])
            observations.append(
                {
                    "id": f"r{rng.randint(0, 99):02d}-{i}",
                    "price": price,
                    "weight": weight,
                    "capacity": weight + rng.choice([0, 0, 1, rng.randint(0, 100 if even else 10**12)]),
                    "pool": rng.choice("ABCD"),
                    "deployment": rng.choice(["x", "y", "z"]),
                }
            )
        vectors.append(
            {
                "observations": [
                    [
                        o["id"],
                        *unreduced(o["price"]),
                        str(o["weight"]),
                        str(o["capacity"]),
                        o["pool"],
                        o["deployment"],
                    ]
                    for o in observations
                ],
                "expected": judge(observations),
            }
        )
    return vectors


def tau_vectors():
    mads = [F(0), F(1, 10**30), F(1_000_000, 22239), F(1_000_000, 22239) + F(1, 10**9), F(5_000_000, 22239)]
    mads += [F(rng.randint(0, 10**9), rng.randint(10**6, 10**7)) for _ in range(30)]
    return [[str(m.numerator), str(m.denominator), str(tau_of(m))] for m in mads]


# --- capacity ------------------------------------------------------------------------------------------


def capacity_vectors():
    vectors = []
    for _ in range(60):
        edges = rng.randint(1, 8)
        depth = [rng.choice([0, 1, 2, 7, rng.randint(1, 100), rng.randint(1, 10**14)]) for _ in range(edges)]
        routes = [rng.sample(range(edges), rng.randint(1, min(3, edges))) for _ in range(rng.randint(1, 10))]
        b = [min(depth[e] for e in r) for r in routes]
        load = [sum(x for x, r in zip(b, routes) if e in r) for e in range(edges)]
        share = [F(1) if load[e] == 0 else min(F(1), F(depth[e], load[e])) for e in range(edges)]
        w = [math.floor(x * min(share[e] for e in r)) for x, r in zip(b, routes)]
        vectors.append(
            {
                "depths": list(map(str, depth)),
                "routes": routes,
                "b": list(map(str, b)),
                "load": list(map(str, load)),
                "w": list(map(str, w)),
            }
        )
    return vectors


# --- bands ---------------------------------------------------------------------------------------------

USD = 10**6
DEPTH_EDGES = [500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000]
COVERAGE_EDGES = [F(p) / 100 for p in (F("0.3"), F("0.6"), 1, 2, 3, 6, 10, F("17.5"), 25)]
FRESH = [(F(1, 10), 10), (F(1, 5), 9), (F(2, 5), 8), (F(3, 5), 7), (F(4, 5), 6)]
SPREAD = [(25, 10), (50, 8), (100, 6), (200, 5), (500, 4), (1000, 3), (math.inf, 2)]
SPREAD_1 = [(25, 10), (50, 9), (100, 8), (200, 6), (500, 4), (1000, 3), (math.inf, 2)]  # revision 1
RETAINED = [(F(1), 10), (F(9, 10), 8), (F(8, 10), 6), (F(67, 100), 5)]


def up_to(table, x):
    return max(s for bound, s in table if x <= bound)


def depth_score(micro):
    return 0 if micro == 0 else 1 + sum(micro >= e * USD for e in DEPTH_EDGES)


def coverage_score(ratio):
    return 0 if ratio == 0 else 1 + sum(ratio >= e for e in COVERAGE_EDGES)


def fresh_score(age, ttl):
    x = F(age, ttl)
    return 0 if x >= 1 else max([5] + [s for bound, s in FRESH if x <= bound])


def temporal_score(p, m):
    return up_to([(100, 10), (200, 8), (500, 5), (math.inf, 2)], dev(p, m))


LABELS = ["Unusable"] + ["Low"] * 3 + ["Medium"] * 3 + ["High"] * 2 + ["Very high"] * 2


def band_vectors():
    depth = [0, 1] + [e * USD + d for e in DEPTH_EDGES for d in (-1, 0, 1)] + [10**18]
    coverage = []
    for e in COVERAGE_EDGES:
        external = rng.randint(1, 10**9) * 10_000
        at = e * external
        coverage += [(int(at) + d, external) for d in (-1, 0, 1)]
    coverage += [(0, 5), (1, 10**20), (7, 3)]
    fresh = []
    for ttl in (1_800_000, 3_600_000, 7, 1, 999_983):
        ages = {0, ttl - 1, ttl, ttl + 1} | {math.floor(b * ttl) + d for b, _ in FRESH for d in (-1, 0, 1)}
        for age in sorted(a for a in ages if a >= 0):
            s = fresh_score(age, ttl)
            later = None if s == 0 else next(a for a in marks(ttl) if a > age and fresh_score(a, ttl) < s)
            fresh.append([age, ttl, s, later])
    temporal = []
    for bps in (0, 99, 100, 101, 200, 201, 500, 501, 90_000):
        m = F(rng.randint(1, 10**20), rng.randint(1, 10**20))
        for p in (m * F(10_000 + bps, 10_000), m * F(10_000, 10_000 + bps), m * F(10_000_001 + 1000 * bps, 10_000_000)):
            temporal.append([*unreduced(p), *unreduced(m), temporal_score(p, m)])
    return {
        "depth": [[str(d), depth_score(d)] for d in depth],
        "coverage": [[str(a), str(x), coverage_score(F(a, x))] for a, x in coverage],
        "freshness": fresh,
        "temporal": temporal,
        "labels": LABELS,
    }


def marks(ttl):
    """Every age at which a band can begin, in order."""
    return sorted({math.floor(b * ttl) + 1 for b, _ in FRESH} | {ttl})


def agreement_vectors():
    vectors = []
    for _ in range(150):
        sources = rng.randint(1, 7)
        deployments = rng.randint(1, min(3, sources))
        spread = rng.choice([F(0), F(rng.choice([25, 50, 100, 200, 500, 1000])), F(rng.randint(0, 2000), rng.randint(1, 9))])
        spread += rng.choice([0, 0, F(1, 10**12)])
        total = rng.choice([100, 1000, rng.randint(100, 10**14)])
        kept = rng.choice([total, total, -(-total * rng.choice([67, 80, 90]) // 100), total - 1])
        kept = max(kept, -(-total * 67 // 100))
        unresolved = rng.random() < 0.2
        if unresolved:
            kept = total
        whole = max(s for bound, s in RETAINED if F(kept, total) >= bound)
        both = min(up_to(SPREAD, spread), whole)
        both_1 = min(up_to(SPREAD_1, spread), whole)
        edge = {1: 8, 2: 9}.get(sources, 10)
        path = {1: 5, 2: 7, 3: 8, 4: 9}.get(sources, 10)  # revision 1
        split = ["NO_INDEPENDENT_CONSENSUS"] if unresolved else []
        lone = ["SINGLE_DEPLOYMENT"] if deployments < 2 else []
        vectors.append(
            {
                "sources": sources,
                "deployments": deployments,
                "spread": unreduced(spread),
                "kept": str(kept),
                "total": str(total),
                "unresolved": unresolved,
                "edge": min(edge, both, 2 if unresolved else 10),
                "edge_caps": (["SINGLE_POOL_PAIR"] if sources == 1 else []) + split,
                "path": min(path, both_1, 2 if unresolved else 10, 8 if deployments < 2 else 10),
                "path_caps": (["SINGLE_SOURCE"] if sources == 1 else []) + lone + split,
            }
        )
    return vectors


# --- the vote of revision 2 ------------------------------------------------------------------------------

FLOORS = [F(1, 10), F(1, 20), F(1, 50), F(0)]
BAND = [5, 8, 9, 10]


draw = random.Random(20261118)


def floor_vectors():
    """The floor in parts of 10,000, and who is heard: pools, then the routes of each that go on."""
    vectors = []
    for _ in range(80):
        n = draw.choice([1, 2, 3, 5, 8, 20, 60])
        pools = []
        for _ in range(n):
            onward = draw.random() < 0.4
            routes = [draw.choice([0, 1, 19, 50, 100, 1000, draw.randint(1, 10**draw.randint(1, 12))]) for _ in range(draw.randint(1, 8) if onward else 1)]
            pools.append({"onward": onward, "routes": routes})
        total = sum(sum(p["routes"]) for p in pools)
        if total == 0:
            continue
        carried = {f: sum(sum(p["routes"]) for p in pools if F(sum(p["routes"]), total) >= f) for f in FLOORS}
        floor = max(f for f in FLOORS if F(carried[f], total) >= F(9, 10))
        heard = []
        for p in pools:
            own = sum(p["routes"])
            if own == 0 or F(own, total) < floor:
                heard.append([False] * len(p["routes"]))
                continue
            large = [not p["onward"] or (w > 0 and F(w, own) >= floor) for w in p["routes"]]
            heard.append(large if any(large) else [True] * len(large))
        vectors.append({"pools": [[p["onward"], list(map(str, p["routes"]))] for p in pools], "floor": int(floor * 10_000), "heard": heard})
    return vectors


def source_vectors():
    """Every k of the sources, by subsets: the best score that k of them support."""
    from itertools import combinations

    vectors = []
    for _ in range(120):
        sources = [[draw.randint(1, 10), draw.choice("abc")] for _ in range(draw.randint(0, 6))]
        best = 5
        for k in range(1, len(sources) + 1):
            for chosen in combinations(sources, k):
                two = len({d for _, d in chosen}) >= 2
                best = max(best, min(BAND[min(k, 4) - 1], min(s for s, _ in chosen), 10 if two else 7))
        vectors.append([sources, best])
    return vectors


def material_vectors():
    vectors = []
    for _ in range(80):
        weights = {f"p{i:02d}": draw.choice([33, 34, 66, 100, draw.randint(1, 10**6)]) for i in range(draw.randint(1, 12))}
        total = sum(weights.values())
        heavy = {p for p, w in weights.items() if F(w, total) >= F(34, 100)}
        ranked = sorted(weights, key=lambda p: (-weights[p], p))
        k = 0
        while 2 * sum(weights[p] for p in heavy) < total:
            heavy.add(ranked[k])
            k += 1
        vectors.append([{p: str(w) for p, w in weights.items()}, sorted(heavy)])
    return vectors


# --- depth average -------------------------------------------------------------------------------------


def k_constant(i):
    """floor(2^64 / e^x) with e^x between two partial sums: no library exponential involved."""
    x = F(2**i, 1_800_000)
    scale = 1 << 400
    term, total, n = scale, scale, 0
    while term > 0 or n <= 2 * x:
        n += 1
        term = term * x.numerator // (x.denominator * n)
        total += term
    # A term cut by 1 is carried into the later ones at most e^18.7 < 2^27 fold; n * 2^60 covers all n cuts.
    low, high = total, total + (n << 60)
    answers = {(scale << 64) // high, (scale << 64) // low}
    assert len(answers) == 1, i
    return answers.pop()


K = [k_constant(i) for i in range(26)]


def decay(dt):
    if dt >= 1 << 26:
        return 0
    d = 1 << 64
    for i, bit in enumerate(reversed(bin(dt)[2:])):
        d = d * (K[i] if bit == "1" else 1 << 64) // (1 << 64)
    return d


def average_vectors():
    """Runs of (time, average, effective, new depth or null) from a first state with or without a known age."""
    runs = []
    for _ in range(40):
        t = rng.randint(10**12, 2 * 10**12)
        level = rng.choice([0, 1, rng.randint(1, 10**6), rng.randint(1, 10**30)])
        age = rng.choice([None, 0, 1, 1_799_999, 1_800_000, 1_800_001, 10**9, rng.randint(0, 1_900_000)])
        run = {"at": t, "created": None if age is None else t - age, "depth": str(level), "steps": []}
        scaled, since = (0, t - age) if age is not None and age < 1_800_000 else (level * 2**32, t)
        for _ in range(6):
            t += rng.choice([0, 1, 1000, rng.randint(0, 10**7), rng.randint(0, 10**8)])
            held = level * 2**32
            avg = held + math.floor(F((scaled - held) * decay(t - since), 2**64))
            value = math.floor(F(avg, 2**32))
            change = rng.choice([None, 0, rng.randint(0, 10**30), level])
            run["steps"].append([t, str(value), str(min(level, value)), None if change is None else str(change)])
            if change is not None:
                scaled, level, since = avg, change, t
        runs.append(run)
    return runs


def decay_vectors():
    spans = [0, 1, 2, 3, 1000, 12_000, 1_799_999, 1_800_000, 2**25, 2**26 - 1, 2**26, 2**26 + 1, 10**12]
    spans += [rng.randint(1, 2 ** rng.randint(1, 26)) for _ in range(60)]
    return [[dt, str(decay(dt))] for dt in spans]


# --- temporal median -----------------------------------------------------------------------------------


def holding(changes):
    """The step function of the chain: the last ratio of each time, as (from, to, ratio) of unequal ratios."""
    last = dict(changes)
    times = sorted(last)
    times = [t for i, t in enumerate(times) if i == 0 or last[t] != last[times[i - 1]]]
    return [(a, b, last[a]) for a, b in zip(times, times[1:] + [math.inf])]


def five_minutes(changes, t):
    spans = holding(changes)
    t = max(t, spans[-1][0])  # a block ahead of the clock: as of that block
    if t - spans[0][0] < WINDOW:
        return None, t - spans[0][0]
    weights = {}
    for a, b, r in spans:
        length = min(b, t) - max(a, t - WINDOW)
        if length > 0:
            weights[r] = weights.get(r, 0) + length
    assert sum(weights.values()) == WINDOW
    return half_point(list(weights.items())), WINDOW


def next_change(changes, t):
    """
    Earliest t' > t with another outcome. For every ratio r the time spent at or below r is linear between
    the moments where an edge of the window meets an edge of a span, so an outcome can only change next to
    such a moment or to a root of 2 * spent = WINDOW on one of those stretches.
    """
    spans = holding(changes)
    now = five_minutes(changes, t)
    if now[0] is None:
        return spans[0][0] + WINDOW
    knots = sorted({x + y for a, b, _ in spans for x in (a, b) for y in (0, WINDOW) if x != math.inf} | {t, max(t, spans[-1][0])})
    candidates = set(knots)

    def spent(r, at):
        return sum(max(0, min(b, at) - max(a, at - WINDOW)) for a, b, q in spans if q <= r)

    for r in {q for _, _, q in spans}:
        for a, b in zip(knots, knots[1:]):
            fa, fb = 2 * spent(r, a) - WINDOW, 2 * spent(r, b) - WINDOW
            if fa != fb:
                candidates.add(math.floor(a - F(fa * (b - a), fb - fa)))
    for c in sorted({c + d for c in candidates for d in (-1, 0, 1)}):
        if c > t and five_minutes(changes, c)[0] != now[0]:
            return c
    return None


def temporal_vectors():
    vectors = []
    for _ in range(90):
        base = rng.randint(10**12, 2 * 10**12) // 1000 * 1000
        pool = [F(rng.randint(1, 50), rng.randint(1, 50)) for _ in range(rng.randint(1, 6))]
        t, changes = base, []
        for _ in range(rng.randint(1, 12)):
            changes.append((t, rng.choice(pool)))
            t += rng.choice([0, 250, 1000, 12_000, 60_000, 150_000, 300_000, rng.randint(1, 200_000)])
        last = changes[-1][0]
        reads = []
        for ahead in (-5_000, 0, 1, rng.randint(0, 150_000), 150_000, rng.randint(0, 400_000), 300_000):
            median, covered = five_minutes(changes, last + ahead)
            reads.append(
                [last + ahead, None if median is None else text(median), covered, next_change(changes, last + ahead)]
            )
        vectors.append({"changes": [[a, *unreduced(r)] for a, r in changes], "reads": reads})
    return vectors


# --- a token against its own past ------------------------------------------------------------------------

MINUTE, HOUR = 60_000, 3_600_000
JUMPS = [(5_000, 3), (2_000, 4), (500, 6)]


def held(notes, start, end):
    """The step function of the notes between two times, as [value, duration], the worths in force last wins."""
    pieces, worths = [], {}
    for i, (t, ratio, y, worth) in enumerate(notes):
        until = notes[i + 1][0] if i + 1 < len(notes) else math.inf
        lasts = min(until, end) - max(t, start)
        if lasts > 0:
            worths[y] = worth
            pieces.append([(ratio, y), lasts])
    return pieces, worths


def by_duration(pieces, value):
    """The first, of equal ones in the order of their times, where the time so far is half of all."""
    ranked = sorted(pieces, key=lambda p: value(p[0]))
    total = sum(d for _, d in pieces)
    return next(each for i, (each, _) in enumerate(ranked) if 2 * sum(d for _, d in ranked[: i + 1]) >= total)


def own_past(notes, t):
    """[(ratio, y), duration] over the hour before t: each minute that is over as its median, the running one as it was."""
    pieces = []
    first = notes[0][0]
    minute = first - first % MINUTE
    while minute < t:
        over = minute + MINUTE <= t
        inside, worths = held(notes, max(minute, first), min(minute + MINUTE, t))
        if over:
            inside = [[by_duration(inside, lambda k: k[0] * worths[k[1]]), sum(d for _, d in inside)]]
        start = max(minute, first)
        for each, lasts in inside:
            cut = max(0, t - HOUR - start)
            if lasts > cut:
                pieces.append([each, lasts - cut])
            start += lasts
        minute += MINUTE
    return pieces


def past_vectors():
    vectors = []
    for case in range(60):
        t = rng.randint(10**12, 2 * 10**12)
        centre = F(rng.randint(1, 10**9), rng.randint(1, 10**9))
        ys = ["a", "b"] if case % 3 == 0 else ["a"]
        worth = {"a": F(rng.randint(1, 10**6)), "b": F(rng.randint(1, 10**6))}
        notes = []
        for _ in range(rng.choice([1, 3, 20, 120, 300])):
            y = rng.choice(ys)
            if rng.random() < 0.3:
                worth[y] *= F(rng.choice([99, 100, 103]), 100)
            jump = rng.choice([1, 1, 1, F(101, 100), F(106, 100), F(9, 10), F(12, 10), F(3, 2), 2, F(1, 2)])
            notes.append((t, centre * jump / worth[y], y, worth[y]))
            t += rng.choice([0, 1_000, 12_000, 12_000, 30_000, 60_000, 200_000 if rng.random() < 0.2 else 7_000])
        # Of the same time only the last counts.
        notes = [n for i, n in enumerate(notes) if i + 1 == len(notes) or notes[i + 1][0] > n[0]]
        # As much again with the same ratio into the same Y is no change.
        changes = []
        for n in notes:
            if not changes or (changes[-1][1], changes[-1][2]) != (n[1], n[2]):
                changes.append(n)
        reads = []
        last = notes[-1][0]
        for ahead in (0, 1, rng.randint(1, 60_000), 60_000, 299_999, 1_800_000, rng.randint(0, HOUR), 4 * HOUR):
            at = last + ahead
            pieces = own_past(changes, at)
            covered = sum(d for _, d in pieces)
            reference = None
            if pieces:
                ratio, y = by_duration(pieces, lambda k: k[0] * worth[k[1]])
                reference = ratio * worth[y]
            marginal = centre * rng.choice([1, F(104, 100), F(1045, 1000), F(105, 100), F(3, 2), F(10, 12), F(2, 3), F(1, 3)])
            if reference is not None and rng.random() < 0.3:
                marginal = reference * rng.choice([F(105, 100), F(100, 105), F(12, 10), F(3, 2), F(2, 3)])
            cap = None
            if covered >= 300_000:
                cap = next((c for bps, c in JUMPS if dev(marginal, reference) >= bps), None)
            reads.append([at, *unreduced(marginal), None if reference is None else text(reference), covered, cap])
        vectors.append(
            {
                "notes": [[a, *unreduced(r), y, *unreduced(w)] for a, r, y, w in notes],
                "worths": {y: unreduced(w) for y, w in worth.items()},
                "reads": reads,
            }
        )
    return vectors


# --- stable guard --------------------------------------------------------------------------------------

DEPEG = [(50, 10), (200, 6), (500, 3), (math.inf, 0)]


def stable(answer, last, feed, sequencer, at):
    """The contract's sentences, each as a question; returns (value or 1, score, status, source, caps)."""
    usable = answer is not None and answer["complete"] and answer["value"] > 0
    held = answer if usable else last
    u = None if held is None else F(held["value"], 10 ** held["decimals"])
    off = None if held is None else 10_000 * abs(u - 1)
    age = None if held is None else max(0, at - held["updated"])
    heartbeat, grace = feed or (None, None)

    no_news = held is None or feed is None or age > 2 * heartbeat + grace
    if no_news:
        if held is not None and off > 200:
            return u, 0, "SUSPENDED", "LAST", ["STABLE_STALE", "STABLE_SUSPENDED"]
        return F(1), 3, "NOMINAL", "NOMINAL", ["STABLE_NOMINAL"]

    late = age > heartbeat + grace
    unsettled = sequencer is not None and (not sequencer[0] or at - sequencer[1] <= 3_600_000)
    stale = late or unsettled or not usable
    peg = up_to(DEPEG, off)
    caps = (["STABLE_STALE"] if stale else []) + {10: [], 0: ["STABLE_SUSPENDED"]}.get(peg, ["STABLE_DEPEG"])
    status = "SUSPENDED" if peg == 0 else "STALE" if stale else "DEPEG" if peg < 10 else "OK"
    return u, min(peg, 4) if stale else peg, status, "LAST" if stale else "CHAINLINK", caps


def stable_vectors():
    vectors = []
    for _ in range(260):
        at = rng.randint(10**12, 2 * 10**12)
        heartbeat, grace = rng.choice([(86_400_000, 1_800_000), (3_600_000, 60_000), (82_800_000, 0)])
        feed = None if rng.random() < 0.1 else (heartbeat, grace)
        edge = [0, heartbeat + grace, 2 * heartbeat + grace]

        def reading(poor):
            decimals = rng.choice([8, 8, 8, 18, 0])
            one = 10**decimals
            off = rng.choice([0, 1, 50, 51, 120, 200, 201, 400, 500, 501, 3000]) * rng.choice([-1, 1])
            value = one + one * off // 10_000 + rng.choice([0, 0, 1, -1])
            age = rng.choice(edge) + rng.choice([-1, 0, 1, -rng.randint(0, 10**7), rng.randint(0, 10**7)])
            made = {"value": max(value, 1), "decimals": decimals, "updated": at - age, "complete": True}
            if poor:
                made["value"] = rng.choice([made["value"], 0, -1])
                made["complete"] = made["value"] <= 0 and rng.random() < 0.5
            return made

        answer = None if feed is None or rng.random() < 0.1 else reading(rng.random() < 0.25)
        last = None if rng.random() < 0.3 else reading(False)
        sequencer = None
        if rng.random() < 0.4:
            sequencer = (rng.random() < 0.7, at - rng.choice([0, 3_599_999, 3_600_000, 3_600_001, 10**8]))
        usd, score, status, source, caps = stable(answer, last, feed, sequencer, at)

        # The outcome can only change just past one of the limits; the first that does is the next boundary.
        limits = [x["updated"] + e for x in (answer, last) if x for e in edge[1:]]
        limits += [sequencer[1] + 3_600_000] if sequencer else []
        after = None
        for t in sorted({x + d for x in limits for d in (0, 1, 2)}):
            if t > at and stable(answer, last, feed, sequencer, t) != (usd, score, status, source, caps):
                after = t
                break
        raw = lambda x: x and [str(x["value"]), x["decimals"], x["updated"], x["complete"]]
        vectors.append(
            {
                "at": at,
                "answer": raw(answer),
                "last": raw(last),
                "feed": feed,
                "sequencer": sequencer,
                "expected": [text(usd), score, status, source, caps, after, text(10_000 * abs(usd - 1))],
            }
        )
    return vectors


# --- disputes ------------------------------------------------------------------------------------------


def stable_dispute(x, y, pools):
    """(disputed, cap) or None; x and y are (value, is_fresh), a pool is (median, weight, average in dollars, id)."""
    if not pools or not (x[1] or y[1]):
        return None
    market = half_point([((median, i), weight) for median, weight, _, i in pools])[0]
    feeds = x[0] / y[0]
    # Signed: above the feeds is Y too cheap, below is X.
    away = lambda value: dev(value, feeds) * (1 if value > feeds else -1)
    reach = away(market)
    if abs(reach) <= 100:
        return None
    sign = 1 if reach > 0 else -1

    def supports(bound):
        voices = [average for median, _, average, _ in pools if sign * away(median) > bound]
        return len(voices) >= 2 or any(average >= 2_500_000 for average in voices)

    cap = 1 if abs(reach) > 500 and supports(500) else 3 if supports(100) else 6
    disputed = ("Y" if sign > 0 else "X") if x[1] and y[1] else ("Y" if x[1] else "X")
    return [disputed, cap, text(market), text(dev(market, feeds))]


def dispute_vectors():
    vectors = []
    for _ in range(220):
        side = lambda: (F(10**8 + rng.choice([0, 0, 30, -700, 45_000, -3_000_000]), 10**8), rng.random() < 0.85)
        x, y = side(), side()
        feeds = x[0] / y[0]
        pools = []
        for i in range(rng.choice([0, 1, 1, 2, 2, 3, 4])):
            drift = rng.choice([0, 20, 100, 101, 250, 500, 501, 900]) + rng.choice([0, 0, F(1, 10**9), F(-1, 10**9)])
            step = 1 + F(max(drift, 0)) / 10_000
            median = feeds * step if rng.random() < 0.6 else feeds / step
            average = rng.choice([250_000, 900_000, 2_499_999, 2_500_000, 9_000_000])
            pools.append((median, rng.choice([1, 2, 3, average]), average, f"p{i}"))
        vectors.append(
            {
                "x": [*unreduced(x[0]), x[1]],
                "y": [*unreduced(y[0]), y[1]],
                "pools": [[i, *unreduced(m), str(w), str(a * 10**6)] for m, w, a, i in pools],
                "expected": stable_dispute(x, y, pools),
            }
        )
    return vectors


def anchor_vectors():
    vectors = []
    for _ in range(160):
        at, heartbeat, grace = 2 * 10**12, rng.choice([27_000, 3_600_000]), rng.choice([0, 300_000])
        age = rng.choice([0, 1, heartbeat + grace, heartbeat + grace + 1, -5000])
        decimals = rng.choice([8, 8, 18, 0])
        value = rng.choice([2000 * 10**decimals, 1 + rng.randint(0, 10**12), 0, -1])
        is_complete = value > 0 and rng.random() < 0.9
        usd = F(max(value, 1), 10**decimals)
        drift = rng.choice([0, 199, 200, 201, 500, 501, 3000]) + rng.choice([0, F(1, 10**12)])
        step = 1 + F(drift) / 10_000
        price = usd * step if rng.random() < 0.5 else usd / step
        expected = None
        if is_complete and age <= heartbeat + grace:
            off = dev(price, usd)
            cap = None if off <= 200 else 6 if off <= 500 else 3
            expected = [text(off), cap, off <= 200, at - age + heartbeat + grace + 1]
        vectors.append(
            {
                "at": at,
                "answer": [str(value), decimals, at - age, is_complete],
                "terms": [heartbeat, grace],
                "price": unreduced(price),
                "expected": expected,
            }
        )
    return vectors


# --- policy versions -----------------------------------------------------------------------------------


def fnv1a_128(data: bytes) -> int:
    h = 144066263297769815596495629667062367629
    for byte in data:
        h = (h ^ byte) * 309485009821345068724781371 % 2**128
    return h


def version_vectors():
    samples = [{}, {"b": 1, "a": {"d": [1, [2, 3]], "c": 0}}, {"z": [{"y": 1, "x": 2}], "10": 1, "9": 2, "A": 3}]
    return [
        [sample, f"p{fnv1a_128(json.dumps(sample, sort_keys=True, separators=(',', ':')).encode()):032x}"]
        for sample in samples
    ]


if __name__ == "__main__":
    groups = {
        "consensus": consensus_vectors(),
        "tau": tau_vectors(),
        "capacity": capacity_vectors(),
        "bands": band_vectors(),
        "agreement": agreement_vectors(),
        "floors": floor_vectors(),
        "sources": source_vectors(),
        "material": material_vectors(),
        "k": [str(k) for k in K],
        "decay": decay_vectors(),
        "average": average_vectors(),
        "temporal": temporal_vectors(),
        "stable": stable_vectors(),
        "past": past_vectors(),
        "version": version_vectors(),
        "dispute": dispute_vectors(),
        "anchor": anchor_vectors(),
    }
    # One vector a line: a change of the rules shows as the vectors it changes.
    lines = []
    for name, group in groups.items():
        rows = group.items() if isinstance(group, dict) else [(None, row) for row in group]
        body = ",\n".join(
            "  " + (json.dumps(key) + ": " if key else "") + json.dumps(row, separators=(",", ":")) for key, row in rows
        )
        opening, closing = ("{", "}") if isinstance(group, dict) else ("[", "]")
        lines.append(f'"{name}": {opening}\n{body}\n{closing}')
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")
