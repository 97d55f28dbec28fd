/**
 * Runs the probe of a token again on the caller's own node, at the block and through the pools that the quote names.
 * A node that cannot simulate, or has pruned the state of that block, neither confirms nor refutes.
 */
import { type Ask, type Hex, needsFee, probe, probeFamily, type ProbeHop } from '../probe/probe.ts'
import type { Sellability } from '../wire/price.ts'
import type { EvaluatedQuote } from '../wire/quote.ts'
import type { Findings } from './findings.ts'
import { poolKeyHash } from './pools/poolKey.ts'
import { type Node, NodeError } from './node.ts'

const TOKEN0 = '0x0dfe1681'
const TOKEN1 = '0xd21220a7'
const PPM = 1_000_000n
/** The later look of a probe is at least ten minutes away, whatever the block time. */
const BLOCK_TIME_MS = 12_000
/** A token may behave differently for another address. */
const TOLERANCE_BPS = 1

type Block = { readonly number: string; readonly timestamp: string }

export async function checkProbe(findings: Findings, node: Node, quote: EvaluatedQuote): Promise<void> {
  const found = quote.sellability
  if (found === null || found === undefined || found.block_hash === null) return
  if (found.method !== 'CALL_OVERRIDE' && found.method !== 'SIMULATE') return
  const hops = await hopsOf(node, found, quote.token)
  const [first] = hops
  const block = await node.ask<Block | null>('eth_getBlockByHash', found.block_hash, false)
  if (first === undefined || block === null) throw new NodeError('the node has no such block')
  findings.same('sellability.block_number', found.block_number, Number(block.number), [
    'sellability.block_hash',
  ])
  const [small = 0n, large = 0n] = found.sizes.map(size => findings.whole('sellability.sizes', size))
  const ask: Ask = (method, params) => {
    // Without a later look, a failure proves nothing here, and proved nothing for the service either.
    if (method === 'eth_simulateV1' && found.method === 'CALL_OVERRIDE') return Promise.reject(notAsked())
    return node.ask(method, ...params)
  }
  const judged = await probe(
    {
      plan: { wrapped: first.tokenIn, hops },
      sizes: [small, large],
      block: {
        number: Number(block.number),
        hash: found.block_hash,
        timeMs: Number(block.timestamp) * 1000,
      },
      blockTimeMs: BLOCK_TIME_MS,
    },
    ask,
    error => error instanceof NodeError,
  )
  if (judged.method !== found.method) throw new NodeError(`the node does not simulate (${found.method})`)
  compare(findings, found, judged)
}

const notAsked = (): NodeError => new NodeError('not queried')

function compare(findings: Findings, found: Sellability, judged: Awaited<ReturnType<typeof probe>>): void {
  const from = ['sellability.block_hash', 'sellability.path', 'sellability.sizes']
  const isRestricted = found.reason === 'SELL_RESTRICTED'
  if (isRestricted)
    findings.holds(
      'sellability.reason',
      found.reason,
      judged.reason === 'BUY_REVERTED' || judged.reason === 'SELL_REVERTED',
      'a purchase or a sale that fails',
      from,
    )
  else {
    findings.same('sellability.status', found.status, judged.status, from)
    findings.same('sellability.reason', found.reason, judged.reason, from)
  }
  const taxes = [
    ['buy_tax_bps', judged.buyTaxBps],
    ['transfer_tax_bps', judged.transferTaxBps],
    ['sell_tax_bps', judged.sellTaxBps],
  ] as const
  for (const [name, measured] of taxes) {
    const shown = found[name]
    const isNear =
      shown === null || measured === null ? shown === measured : Math.abs(shown - measured) <= TOLERANCE_BPS
    findings.holds(`sellability.${name}`, shown, isNear, `${measured}, to ${TOLERANCE_BPS} bps`, from)
  }
}

/** From the token back to wrapped native: each pool's other token is the output of the one before it. */
async function hopsOf(node: Node, { path, block_hash }: Sellability, token: string): Promise<ProbeHop[]> {
  const hops: ProbeHop[] = []
  let tokenOut = token as Hex
  for (const probed of path.toReversed()) {
    const kind = probeFamily(probed.family)
    if (kind === null)
      throw new RangeError(`a probe through a pool of ${probed.family} is not one of this SDK`)
    const fee = needsFee(kind) ? { numerator: PPM - BigInt(probed.fee_ppm), denominator: PPM } : null
    const { tokens, ...place } = managedOf(probed) ?? (await contractOf(node, probed, block_hash ?? ''))
    const tokenIn = tokens[0] === tokenOut ? tokens[1] : tokens[0]
    hops.unshift({ family: kind, ...place, tokenIn, tokenOut, fee })
    tokenOut = tokenIn
  }
  return hops
}

type Probed = Sellability['path'][number]
type Place = Pick<ProbeHop, 'pool' | 'key'> & { readonly tokens: readonly [Hex, Hex] }

/** A pool held by a manager: its tokens are in its key, and its id is the hash of that key. */
function managedOf({ pool_id, manager_address, wrapped_address, pool_key }: Probed): Place | null {
  if (manager_address === undefined || pool_key === undefined) return null
  if (poolKeyHash(pool_key) !== pool_id) throw new RangeError(`${pool_id} is not the hash of its pool_key`)
  const { currency0, currency1, fee, tick_spacing, hooks } = pool_key
  const native = wrapped_address ?? null
  return {
    pool: manager_address,
    tokens: [native ?? currency0, currency1],
    key: { fee, tickSpacing: tick_spacing, hooks, native },
  }
}

async function contractOf(node: Node, { pool_id }: Probed, blockHash: string): Promise<Place> {
  const pool: Hex = `0x${pool_id.slice(-40)}`
  const tokens = [TOKEN0, TOKEN1].map(
    async data => (await node.call(pool, data, blockHash)).address(0) as Hex,
  )
  const [token0 = pool, token1 = pool] = await Promise.all(tokens)
  return { pool, tokens: [token0, token1] }
}
