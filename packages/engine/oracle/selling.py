"""
Vectors for what a simulated sale and a pool's balances say of a price: R-sell-1 to R-sell-3 and R-back-1 in docs/RULES.md,
computed a second time with fractions.

    python3 packages/engine/oracle/selling.py > packages/engine/oracle/selling.json
"""
import json
import random
from fractions import Fraction as F

rng = random.Random(20261119)
DAY = 86_400_000
# The policy's defaults.
CAPS = {"UNSELLABLE": 1, "SELL_RESTRICTED": 3, "SELLABILITY_UNKNOWN": 7, "UNBACKED": 3}


def tax_of(sent, arrived):
    """The nearest basis point of what did not arrive, a half upwards; None where nothing was sent."""
    if sent == 0:
        return None
    bps = max(F(0), F(sent - arrived, sent)) * 10_000
    return int(bps + F(1, 2))


def failed(size):
    return "BUY" in size or "SELL" in size


def status_of(now, later):
    """Each look is the failed steps of both sizes, or None where it was not taken. Taxes aside."""
    def tells(look):
        return look is not None and not any("FUND" in size or "GAS" in size for size in look)

    if tells(later):
        return "UNSELLABLE" if all(map(failed, later)) else "SELLABLE"
    if tells(now):
        return "UNKNOWN" if all(map(failed, now)) else "SELLABLE"
    return "UNKNOWN"


def restricted(status, reason, last_sale, block):
    has_failed = status == "UNSELLABLE" or (status == "UNKNOWN" and reason in ("BUY_REVERTED", "SELL_REVERTED"))
    was_sold = last_sale is not None and block - last_sale <= DAY
    return ["UNKNOWN", "SELL_RESTRICTED"] if has_failed and was_sold else [status, reason]


def cap_of(status, reason, transfer, sell):
    """All caps that apply; the lowest counts, and the first of equal ones."""
    if status == "UNSELLABLE":
        return ["UNSELLABLE", CAPS["UNSELLABLE"]]
    if status == "UNKNOWN" and reason == "SELL_RESTRICTED":
        return ["SELL_RESTRICTED", CAPS["SELL_RESTRICTED"]]
    caps = [["SELLABILITY_UNKNOWN", CAPS["SELLABILITY_UNKNOWN"]]] if status == "UNKNOWN" else []
    tax = max(transfer or 0, sell or 0)
    if tax > 300:
        caps.append(["TRANSFER_TAX", 3])
    elif tax > 50:
        caps.append(["TRANSFER_TAX", 6])
    return min(caps, key=lambda cap: cap[1], default=None)


def backing_of(is_pair, readings):
    """After each reading (time, [(balance, against), (balance, against)]): whether the pool is UNBACKED."""
    said, excess = [], []
    for time, holdings in readings:
        shares = [(F(balance), F(against)) for balance, against in holdings]
        below = any(balance < against * F(9_950, 10_000) for balance, against in shares)
        far = is_pair and any(balance > against * F(11_000, 10_000) for balance, against in shares)
        little = is_pair and any(balance > against * F(10_050, 10_000) for balance, against in shares)
        excess = excess + [time] if little else []
        stayed = bool(excess) and time - excess[0] >= 300_000
        said.append({"excessSinceMs": excess[0] if excess else None, "isUnbacked": below or far or stayed})
    return said


def any_size():
    return [step for step in ("FUND", "BUY", "MOVE", "SELL", "GAS") if rng.random() < (0.08 if step in ("FUND", "GAS") else 0.3)]


def any_look():
    return None if rng.random() < 0.2 else [any_size(), any_size()]


def any_tax():
    return rng.choice([None, 0, 1, 49, 50, 51, 299, 300, 301, 10_000, rng.randrange(1_000)])


def any_holding():
    against = rng.choice([0, 1, 10_000, 20_000 * 10**18, rng.randrange(1, 10**24)])
    parts = rng.choice([0, 9_949, 9_950, 10_000, 10_050, 10_051, 11_000, 11_001, rng.randrange(9_000, 12_000)])
    return against * parts // 10_000 + rng.choice([-1, 0, 0, 1]) * (against > 10_000), against


def vectors():
    taxes = []
    for _ in range(200):
        sent = rng.choice([0, 1, 3, 7, 20_000, rng.randrange(1, 10**30)])
        arrived = rng.choice([0, sent, sent + 1, sent * rng.randrange(10_001) // 10_000])
        taxes.append({"sent": str(sent), "arrived": str(arrived), "bps": tax_of(sent, arrived)})
    looks = []
    for _ in range(300):
        now, later = any_look(), any_look()
        looks.append({"now": now, "later": later, "status": status_of(now, later)})
    caps = []
    for _ in range(300):
        status = rng.choice(["SELLABLE", "TAXED", "UNSELLABLE", "UNKNOWN", "UNKNOWN"])
        reason = rng.choice(["SELL_RESTRICTED", "NO_PATH", "NOT_YET", "BUY_REVERTED"]) if status == "UNKNOWN" else None
        transfer, sell = any_tax(), any_tax()
        cap = cap_of(status, reason, transfer, sell)
        caps.append({"status": status, "reason": reason, "transferTaxBps": transfer, "sellTaxBps": sell, "cap": cap})
    sales = []
    for _ in range(120):
        status, reason = rng.choice([("UNSELLABLE", "SELL_REVERTED"), ("UNKNOWN", "SELL_REVERTED"),
                                     ("UNKNOWN", "BUY_REVERTED"), ("UNKNOWN", "NO_PATH"), ("SELLABLE", None)])
        block = 10 * DAY
        last = rng.choice([None, block, block - DAY, block - DAY - 1, block - rng.randrange(3 * DAY)])
        sales.append({"status": status, "reason": reason, "lastSaleMs": last, "blockMs": block,
                      "is": restricted(status, reason, last, block)})
    backing = []
    for _ in range(150):
        is_pair, time, readings = rng.random() < 0.7, 1_000_000, []
        for _ in range(rng.randrange(1, 6)):
            time += rng.choice([60_000, 150_000, 299_999, 300_000])
            readings.append((time, [any_holding(), any_holding()]))
        backing.append({
            "isPair": is_pair,
            "readings": [{"readMs": t, "holdings": [[str(b), str(a)] for b, a in held]} for t, held in readings],
            "said": backing_of(is_pair, readings),
        })
    return {"taxes": taxes, "looks": looks, "caps": caps, "sales": sales, "backing": backing}


print(json.dumps(vectors(), separators=(",", ":")).replace("},{", "},\n{"))
