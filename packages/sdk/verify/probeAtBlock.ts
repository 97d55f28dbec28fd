/**
 * The probe of a token run again on the caller's own node, at the block and over the pools that the quote names. A node
 * that simulates nothing, or has no state of that block any more, says neither yes nor no.
 */
import { type Ask, type Hex, needsFee, probe, probeFamily, type ProbeHop } from '../probe/probe.ts'
import type { Sellability } from '../wire/price.ts'
import type { EvaluatedQuote } from '../wire/quote.ts'
import type { Findings } from './findings.ts'
import { type Node, NodeError } from './node.ts'

const TOKEN0 = '0x0dfe1681'
const TOKEN1 = '0xd21220a7'
const PPM = 1_000_000n
/** The later look of a probe is at least ten minutes away, whatever is between blocks. */
const BLOCK_TIME_MS = 12_000
/** A token may do otherwise with another address. */
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
    // Without a later look a failure now proves nothing, and neither did it for the service.
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

const notAsked = (): NodeError => new NodeError('not asked')

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

/** From the token back to wrapped native: each pool's other token is what the one before it gives. */
async function hopsOf(node: Node, { path, block_hash }: Sellability, token: string): Promise<ProbeHop[]> {
  const hops: ProbeHop[] = []
  let tokenOut = token as Hex
  for (const { pool_id, family, fee_ppm } of path.toReversed()) {
    const pool: Hex = `0x${pool_id.slice(-40)}`
    const [token0, token1] = await Promise.all(
      [TOKEN0, TOKEN1].map(async data => (await node.call(pool, data, block_hash ?? '')).address(0)),
    )
    const tokenIn = (token0 === tokenOut ? token1 : token0) as Hex
    const kind = probeFamily(family)
    if (kind === null) throw new RangeError(`a probe through a pool of ${family} is not one of this SDK`)
    const fee = needsFee(kind) ? { numerator: PPM - BigInt(fee_ppm), denominator: PPM } : null
    hops.unshift({ family: kind, pool, tokenIn, tokenOut, fee })
    tokenOut = tokenIn
  }
  return hops
}
