"""What a file must hold, from the records of the log alone. Nothing here is shared with the program that writes the files.

Lines of the log come as `sequence chain_id committed_at_ms envelope`, parted by tabs.
"""
import json
from fractions import Fraction

INTERVAL = 60_000
EVENT_FIELDS = (
    'kind block_number block_hash block_time_ms transaction_hash log_index finality proof amount0_in amount1_in '
    'amount0_out amount1_out amount0 amount1 sqrt_price_x96 liquidity tick'
).split()


def records(lines):
    for line in lines:
        sequence, chain, at, envelope = line.rstrip('\n').split('\t', 3)
        said = json.loads(envelope)
        yield int(sequence), int(chain), int(at), said['type'], said['payload']


def name(identifier):
    return '0x' + identifier[-40:] if identifier.startswith('0x' + '0' * 24) else identifier


def place(sequence, chain, at):
    return [sequence, sequence >> 40, chain, at]


def state(said):
    said = said or {}
    price, asof = said.get('price_usd') or {}, said.get('as_of') or {}
    return [
        said.get('state'), price.get('numerator'), price.get('denominator'), price.get('display'),
        (said.get('confidence') or {}).get('score'), said.get('reason'), said.get('evaluated_at_ms'),
        said.get('expires_at_ms'), asof.get('block_number'), asof.get('block_hash'), said.get('policy_version'),
    ]


def prices(lines):
    for sequence, chain, at, kind, said in records(lines):
        if kind.startswith('PRICE_') and said['scope'] == 'token':
            now = said['current'] if kind == 'PRICE_RETRACT' else said
            yield place(sequence, chain, at) + [kind, name(said['token_id']), said['record_id']] + state(now)


def events(lines):
    for sequence, chain, at, kind, said in records(lines):
        if kind == 'SWAP_OBSERVED':
            yield place(sequence, chain, at) + [name(said['pool_id'])] + [said.get(field) for field in EVENT_FIELDS]


def retractions(lines):
    for sequence, chain, at, kind, said in records(lines):
        if kind == 'PRICE_RETRACT':
            token = said['scope'] == 'token'
            yield place(sequence, chain, at) + [
                said['scope'], name(said['token_id' if token else 'pool_id']), said['record_id'], said['reason'],
                said['retracted']['record_id'], said['retracted']['stream_sequence'],
            ] + state(said['current'] if token else None)


def candles(lines):
    """Block by block: a branch that is known to be dead takes what was said on it along."""
    known, alive, end = {}, [], 0
    for sequence, chain, at, kind, said in records(lines):
        end = at
        dead, kept = None, None
        if kind == 'SWAP_OBSERVED' and said['finality'] == 'orphaned':
            dead = said['block_number']
        elif kind.startswith('PRICE_'):
            now = said['current'] if kind == 'PRICE_RETRACT' else said
            block = (now or {}).get('as_of') or now
            if kind == 'PRICE_RETRACT' and said['reason'] == 'REORG':
                dead, kept = known[said['retracted']['stream_sequence']], block['block_hash']
        if dead is not None:
            for price in alive:
                if price['chain'] == chain and price['number'] >= dead and price['hash'] != kept:
                    price['gone'] = True
        if kind.startswith('PRICE_') and now is not None:
            known[sequence] = block['block_number']
            if said['scope'] == 'token' and 'price_usd' in now:
                alive.append({
                    'chain': chain, 'number': block['block_number'], 'hash': block['block_hash'], 'gone': False,
                    'sequence': sequence, 'token': name(said['token_id']), 'price': now['price_usd'],
                    'from': now['evaluated_at_ms'] // INTERVAL * INTERVAL,
                })
    buckets = {}
    for price in alive:
        buckets.setdefault((price['from'], price['token']), []).append(price)
    for (begin, token), said in sorted(buckets.items()):
        good = [each for each in said if not each['gone']]
        if good == [] or begin + INTERVAL > end // INTERVAL * INTERVAL:
            continue
        value = lambda each: Fraction(int(each['price']['numerator']), int(each['price']['denominator']))
        edges = [good[0], max(good, key=value), min(good, key=value), good[-1]]
        row = [good[0]['chain'], begin, begin + INTERVAL, token]
        for edge in edges:
            row += [edge['price'][form] for form in ('numerator', 'denominator', 'display')]
        yield row + [len(good), len(said) - len(good), good[0]['sequence'], good[-1]['sequence']]
