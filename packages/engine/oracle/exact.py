"""Vectors for packages/engine/exact, from Python's own integers, fractions and decimal.

Made with, from the root of the repository:

    python3 packages/engine/oracle/exact.py > packages/engine/oracle/exact.json

Nothing here shares code or method with what it checks: reduction is fractions.Fraction, rounding is one
division in a decimal context of 18 digits with ROUND_HALF_EVEN, roots are math.isqrt. The seed is fixed and
only getrandbits is used, so any Python 3.9 or later writes the same file.
"""

import decimal
import json
import math
import random
import sys
from fractions import Fraction

COMMAND = "python3 packages/engine/oracle/exact.py > packages/engine/oracle/exact.json"

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

source = random.Random(20240604)
ROUND_18 = decimal.Context(prec=18, rounding=decimal.ROUND_HALF_EVEN, Emin=-99999, Emax=99999)


def below(limit):
    return source.getrandbits(64) % limit


def pick(items):
    return items[below(len(items))]


def integer(bits):
    """Of exactly so many bits."""
    return (1 << (bits - 1)) | source.getrandbits(bits - 1) if bits > 1 else 1


def natural(most_bits):
    return integer(1 + below(most_bits))


def display(value):
    """Decimal(int) is exact whatever the context, so the division rounds, and only it."""
    rounded = ROUND_18.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    text = format(rounded, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text


def exact(value):
    return {
        "numerator": str(value.numerator),
        "denominator": str(value.denominator),
        "display": display(value),
    }


def composition():
    """Specification 2.4: q per hop, Q over the route, P_USD = Q times U_S."""
    vectors = []
    for hops in [1, 2, 3, 4] * 25:
        decimals = [pick([0, 2, 6, 6, 8, 9, 18, 18, 18, 24, 36]) for _ in range(hops + 1)]
        evidence = [(natural(pick([64, 112, 256])), natural(pick([64, 112, 256]))) for _ in range(hops)]
        stable = Fraction(pick([10**8, 10**8 - 1 - below(10**6), 10**8 + 1 + below(10**6)]), 10**8)

        route = Fraction(1)
        for (a, b), decimals_in, decimals_out in zip(evidence, decimals, decimals[1:]):
            route *= Fraction(a * 10**decimals_in, b * 10**decimals_out)
        vectors.append(
            {
                "hops": [[str(a), str(b)] for a, b in evidence],
                "decimals": decimals,
                "stable": [str(stable.numerator), str(stable.denominator)],
                "Q": exact(route),
                "P_USD": exact(route * stable),
            }
        )
    return vectors


def rounding():
    values = [Fraction(1), Fraction(1, 3), Fraction(2, 3), Fraction(10**19 - 1, 10**19), Fraction(5, 2)]
    for _ in range(40):
        values.append(Fraction(natural(256), natural(256)))
    for _ in range(60):  # ties, at every magnitude
        digits = 10**17 + below(9 * 10**17)
        values.append(Fraction(2 * digits + 1, 2) * Fraction(10) ** (below(81) - 60))
    for _ in range(30):  # the nearest neighbours of a tie, with sides long enough for the quick way
        digits = 10**17 + below(9 * 10**17)
        fine = integer(pick([80, 200, 400]))
        values.append(Fraction((2 * digits + 1) * fine + pick([1, -1]), 2 * fine) / 10 ** below(40))
    for _ in range(30):  # just above and below a power of ten
        fine = natural(200)
        values.append(Fraction(fine + 1, fine) * Fraction(10) ** (below(81) - 40))
        values.append(Fraction(fine, fine + 1) * Fraction(10) ** (below(81) - 40))
    for bits in [1024, 2048, 4096]:
        for _ in range(4):
            values.append(Fraction(integer(bits), integer(bits)))
        values += [Fraction(integer(bits)), Fraction(1, integer(bits))]
    values += [Fraction(1, 2**4095), Fraction(2**4095), Fraction(2**4096 - 1, 2**4095), Fraction(3, 2**4095)]
    return [exact(value) for value in values]


def reduction():
    vectors = []

    def add(num, den):
        value = Fraction(num, den)
        vectors.append(
            {
                "num": str(num),
                "den": str(den),
                "gcd": str(math.gcd(num, den)),
                "reduced": [str(value.numerator), str(value.denominator)],
            }
        )

    for most_bits in [16, 53, 54, 64, 128, 256, 256, 256, 512, 1024]:
        for _ in range(8):
            shared = natural(max(1, most_bits // pick([2, 4, 8])))
            num, den = natural(most_bits) * shared, natural(most_bits) * shared
            add(num, den)
    for bits in [4096, 4097]:  # reduced to exactly so many bits: the last that fits, the first that does not
        long, short = integer(bits), integer(200)
        while math.gcd(long, short) > 1:
            short = integer(200)
        for num, den in [(long * 12, short * 12), (short * 12, long * 12)]:
            add(num, den)
    return vectors


def roots():
    values = list(range(20))
    for bits in [52, 53, 64, 104, 128, 160, 192, 256, 320, 512, 1023, 1024, 1025, 2048, 4096]:
        root = integer((bits + 1) // 2)
        values += [integer(bits), root * root - 1, root * root, root * root + 1]
    return [{"n": str(n), "root": str(math.isqrt(n))} for n in values]


def order():
    vectors = []

    def add(a, b, c, d):
        left, right = Fraction(a, b), Fraction(c, d)
        sign = (left > right) - (left < right)
        vectors.append({"a": [str(a), str(b)], "b": [str(c), str(d)], "sign": sign})

    for most_bits in [32, 64, 256, 256, 1024]:
        for _ in range(8):
            add(*(natural(most_bits) for _ in range(4)))
    for fine_bits in [40, 48, 50, 51, 52, 53, 54, 60, 100, 300, 1000, 1100]:
        p, q, fine = natural(100), natural(100), integer(fine_bits)
        add(p * fine + 1, q * fine, p, q)
        add(p * fine, q * fine + 1, p, q)
        add(p * fine, q * fine, p, q)
    long = integer(8192)
    add(long, long - 1, long + 1, long)
    add(long * 3, 7, long * 3 + 1, 7)
    return vectors


print(
    json.dumps(
        {
            "made_by": COMMAND,
            "composition": composition(),
            "rounding": rounding(),
            "reduction": reduction(),
            "roots": roots(),
            "order": order(),
        },
        indent=1,
    )
)
