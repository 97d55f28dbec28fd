"""Vectors for the fee and the price of Uniswap v4 pools, from Python's own integers and fractions.

Made with, from the root of the repository:

    python3 packages/engine/oracle/v4.py > packages/engine/oracle/v4.json

The fee is what is left out of two fractions, first the protocol's and then the providers' of the rest, rounded up to whole
millionths; the price is the square of a fraction. The manager's own formula is used for neither.
"""

import json
import math
import random
from fractions import Fraction

COMMAND = "python3 packages/engine/oracle/v4.py > packages/engine/oracle/v4.json"
PPM = 10**6

source = random.Random(20261119)


def below(limit):
    return source.getrandbits(256) % limit


def pick(items):
    return items[below(len(items))]


def swap_fee(protocol, providers):
    left = Fraction(PPM - protocol, PPM) * Fraction(PPM - providers, PPM)
    return math.ceil((1 - left) * PPM)


def packed(zero_for_one, one_for_zero):
    return zero_for_one + one_for_zero * 2**12


def fees():
    vectors = []
    for _ in range(200):
        zero, one = [pick([0, 1, 7, 500, 999, 1000, below(1001)]) for _ in range(2)]
        providers = pick([0, 1, 100, 500, 3000, 10000, 999999, PPM, below(PPM + 1), below(20000)])
        whole = [swap_fee(zero, providers), swap_fee(one, providers)]
        least = []
        for protocol, fee in zip([zero, one], whole):
            found = providers
            while found > 0 and swap_fee(protocol, found - 1) == fee:
                found -= 1
            least.append(found)
        vectors.append(
            {"protocol_fee": packed(zero, one), "lp_fee": providers, "swap_fee": whole, "least_lp_fee": least}
        )
    return vectors


def prices():
    vectors = []
    for _ in range(100):
        bits = 33 + below(127)
        root = (1 << bits) | source.getrandbits(bits)
        root = min(max(root, 4295128739), 1461446703485210103287273052203988822378723970341)
        price = Fraction(root, 2**96) ** 2
        vectors.append(
            {"sqrt_price_x96": str(root), "price": [str(price.numerator), str(price.denominator)]}
        )
    return vectors


print(json.dumps({"made_by": COMMAND, "fees": fees(), "prices": prices()}, indent=1))
