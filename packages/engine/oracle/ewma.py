"""
The decay constants that rules/depthAverage.ts computes: K[i] = floor(2^64 * exp(-2^i / 1,800,000)), i = 0..25.

    python3 packages/engine/oracle/ewma.py

prints the 26 literals, to compare with. Decimal carries 80 digits; a constant is accepted only
if moving exp() by one part in 10^70 either way gives the same integer, so the floor is certain.
"""
from decimal import ROUND_FLOOR, Decimal, localcontext

WINDOW_MS = 1_800_000
BITS = 26


def constant(i: int) -> int:
    with localcontext() as context:
        context.prec = 80
        scaled = (Decimal(-(2**i)) / Decimal(WINDOW_MS)).exp() * Decimal(2**64)
        slack = scaled * Decimal(10) ** -70
        low = int((scaled - slack).to_integral_value(rounding=ROUND_FLOOR))
        high = int((scaled + slack).to_integral_value(rounding=ROUND_FLOOR))
    if low != high:
        raise ArithmeticError(f"K[{i}] is not certain at 80 digits")
    return low


def grouped(value: int) -> str:
    return f"{value:,}".replace(",", "_") + "n"


if __name__ == "__main__":
    for index in range(BITS):
        print(f"  {grouped(constant(index))},")
