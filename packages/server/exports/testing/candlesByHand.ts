/** Candles from a whole log in memory, by scanning all its records: slow, and independent of how a file is written. */
type Said = { readonly [field: string]: unknown }
export type Spoken = {
  readonly stream_sequence: number
  readonly type: string
  readonly routing: { readonly chain_id: number }
  readonly payload: Said
}
type Price = { readonly numerator: string; readonly denominator: string; readonly display: string }

const stateOf = ({ type, payload }: Spoken): Said =>
  (type === 'PRICE_RETRACT' ? payload['current'] : payload) as Said

const blockOf = (record: Spoken): { readonly block_number: number; readonly block_hash: string } => {
  const state = stateOf(record)
  return (state['as_of'] ?? state) as { block_number: number; block_hash: string }
}

/** The least height that a record withdraws; null if it withdraws none. */
function heightGone(records: readonly Spoken[], { type, payload }: Spoken): number | null {
  if (type === 'SWAP_OBSERVED')
    return payload['finality'] === 'orphaned' ? (payload['block_number'] as number) : null
  if (type !== 'PRICE_RETRACT' || payload['reason'] !== 'REORG') return null
  const { stream_sequence: named } = payload['retracted'] as { stream_sequence: number }
  const found = records.find(({ stream_sequence }) => stream_sequence === named)
  return found === undefined ? null : blockOf(found).block_number
}

const signals = new WeakMap<readonly Spoken[], { at: number; height: number; kept: string | null }[]>()

export function isTakenBack(records: readonly Spoken[], record: Spoken): boolean {
  let known = signals.get(records)
  if (known === undefined) {
    known = records.flatMap(each => {
      const height = heightGone(records, each)
      if (height === null) return []
      const kept = each.type === 'SWAP_OBSERVED' ? null : blockOf(each).block_hash
      return [{ at: each.stream_sequence, height, kept }]
    })
    signals.set(records, known)
  }
  const { block_number: number, block_hash: hash } = blockOf(record)
  return known.some(
    ({ at, height, kept }) => at > record.stream_sequence && height <= number && kept !== hash,
  )
}

const isAbove = (a: Price, b: Price): boolean =>
  BigInt(a.numerator) * BigInt(b.denominator) > BigInt(b.numerator) * BigInt(a.denominator)

export type CandleByHand = {
  readonly to_ms: number
  readonly withdrawn: number
  readonly [column: string]: unknown
}

export function candlesByHand(records: readonly Spoken[], intervalMs: number): CandleByHand[] {
  const buckets = new Map<string, { from: number; token: string; kept: Price[]; gone: number }>()
  for (const record of records) {
    if (!record.type.startsWith('PRICE_') || record.payload['scope'] !== 'token') continue
    const { price_usd: price, evaluated_at_ms: atMs } = stateOf(record) as {
      price_usd?: Price
      evaluated_at_ms: number
    }
    if (price === undefined) continue
    const from = Math.floor(atMs / intervalMs) * intervalMs
    const token = `0x${(record.payload['token_id'] as string).slice(-40)}`
    const name = `${from} ${token}`
    const bucket = buckets.get(name) ?? { from, token, kept: [], gone: 0 }
    buckets.set(name, bucket)
    if (isTakenBack(records, record)) bucket.gone += 1
    else bucket.kept.push(price)
  }
  const sides = (edge: string, { numerator, denominator, display }: Price) => ({
    [`${edge}_numerator`]: numerator,
    [`${edge}_denominator`]: denominator,
    [`${edge}_display`]: display,
  })
  return [...buckets.values()]
    .filter(({ kept }) => kept.length > 0)
    .sort((a, b) => a.from - b.from || (a.token < b.token ? -1 : 1))
    .map(({ from, token, kept, gone }) => ({
      chain_id: records[0]?.routing.chain_id,
      from_ms: from,
      to_ms: from + intervalMs,
      token_address: token,
      ...sides('open', kept[0] as Price),
      ...sides(
        'high',
        kept.reduce((best, each) => (isAbove(each, best) ? each : best)),
      ),
      ...sides(
        'low',
        kept.reduce((best, each) => (isAbove(best, each) ? each : best)),
      ),
      ...sides('close', kept.at(-1) as Price),
      records: kept.length,
      withdrawn: gone,
    }))
}
