/**
 * Checks the evidence of a quote against the caller's own node: blocks by hash, pools by their factory, their
 * holdings, the observed or simulated sale, and the decimals used to scale it.
 */
import { DEFAULT_POLICY } from '@assay/engine/rules'
import type { EvaluatedQuote } from '../wire/quote.ts'
import type { Hop } from '../wire/route.ts'
import { type Findings, Unreadable } from './findings.ts'
import { heldBy, knownFamily } from './hop.ts'
import { Node, NodeError, Words } from './node.ts'
import { chainFamilyOf } from './pools/chainFamilies.ts'
import type { ChainFamily, PoolAtBlock } from './pools/family.ts'
import { checkProbe } from './probeAtBlock.ts'
import { at, readingOf, type PricedText, type Reading, usdOf } from './reading.ts'

const DECIMALS = '0x313ce567'
const MICRO = 1_000_000n

type Block = { readonly number: string; readonly hash: string; readonly timestamp: string }
type Log = {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly logIndex: string
  readonly transactionHash: string
}
/** One hop, at its first place in the quote. */
type Shown = { readonly hop: Hop; readonly path: string; readonly reading: Reading | null }

export async function checkEvidence(
  findings: Findings,
  quote: EvaluatedQuote,
  node: Node,
  unchecked: string[],
): Promise<void> {
  const attempt = async (what: string, check: () => Promise<void>): Promise<void> => {
    try {
      await check()
    } catch (error) {
      if (error instanceof NodeError) unchecked.push(`${what}: ${error.message}`)
      else if (!(error instanceof Unreadable)) findings.differ(what, String(error), 'the form of a quote')
    }
  }
  await attempt('chain_id', async () => {
    const chainId = await node.ask<string>('eth_chainId')
    findings.same('chain_id', quote.chain_id, Number(chainId))
  })
  await attempt('as_of', () => checkBlock(findings, node, quote.as_of, 'as_of', 'block_time_ms'))
  let finalized: number | null = null
  await attempt('the finalized block', async () => {
    const block = await node.ask<Block | null>('eth_getBlockByNumber', 'finalized', false)
    finalized = block === null ? null : Number(block.number)
  })
  await attempt('sellability', () => checkProbe(findings, node, quote))
  const factories = new Map<string, { deployment: string; path: string }>()
  const hops: Shown[] = []
  await attempt('routes', async () => void hops.push(...hopsOf(findings, quote)))
  for (const shown of hops) {
    const { hop, path } = shown
    await attempt(path, () => checkIdentity(findings, node, shown, quote.as_of.block_hash, factories))
    await attempt(`${path}.from_decimals`, () => checkDecimals(findings, node, shown, quote.as_of.block_hash))
    if (hop.evidence === null) continue
    await attempt(`${path}.evidence`, () => checkSale(findings, node, shown, finalized))
    await attempt(path, () => checkHoldings(findings, node, shown, quote.as_of.block_hash))
  }
}

/** Every pool once, in the order of the quote. */
function hopsOf(findings: Findings, quote: EvaluatedQuote): Shown[] {
  const found = new Map<string, Shown>()
  const note = (hops: readonly Hop[], path: string, reading: Reading | null) =>
    hops.forEach((hop, index) => {
      if (!found.has(hop.pool_id)) found.set(hop.pool_id, { hop, path: `${path}.hops[${index}]`, reading })
    })
  const walk = (priced: PricedText, path: string): void => {
    // Policies do not matter for chain data: the reading is used for dollars alone.
    const reading = readingOf(findings, DEFAULT_POLICY, priced, path)
    priced.routes.forEach((route, index) => note(route.hops, at(path, `routes[${index}]`), reading))
    priced.routing_assets.forEach((asset, index) => {
      if (asset.state === 'PRICED') walk(asset, at(path, `routing_assets[${index}]`))
    })
  }
  if (quote.state === 'PRICED') walk(quote, '')
  else quote.candidates.forEach(({ hops }, index) => note(hops, `candidates[${index}]`, null))
  return [...found.values()]
}

/** The block is the node's own block at that height, with that time. */
async function checkBlock(
  findings: Findings,
  node: Node,
  shown: Readonly<Record<string, unknown>>,
  path: string,
  time: 'block_time_ms' | 'observed_at_ms',
): Promise<void> {
  const number = findings.integer(`${path}.block_number`, shown['block_number'])
  const named = await node
    .ask<Block | null>('eth_getBlockByHash', shown['block_hash'], false)
    .catch(() => null)
  if (named !== null)
    findings.same(`${path}.block_number`, number, Number(named.number), [`${path}.block_hash`])
  const height = named === null ? number : Number(named.number)
  const block = await node.ask<Block | null>('eth_getBlockByNumber', `0x${height.toString(16)}`, false)
  if (block === null) throw new NodeError(`the node has no block ${height}`)
  findings.same(`${path}.block_hash`, shown['block_hash'], block.hash.toLowerCase(), [`${path}.block_number`])
  findings.same(`${path}.${time}`, shown[time], Number(block.timestamp) * 1000, [`${path}.block_hash`])
}

/**
 * The factory confirms that the contract is a pool of these tokens, and deployments are as distinct as the quote
 * claims.
 */
async function checkIdentity(
  findings: Findings,
  node: Node,
  { hop, path }: Shown,
  blockHash: string,
  factories: Map<string, { deployment: string; path: string }>,
): Promise<void> {
  const factory = await atNode(findings, hop, path).checkIdentity(findings, node, hop, path, blockHash)
  const known = factories.get(factory)
  if (known === undefined) {
    const twin = [...factories.values()].find(each => each.deployment === hop.deployment_id)
    findings.holds(
      `${path}.deployment_id`,
      hop.deployment_id,
      twin === undefined,
      `a name other than ${twin?.path ?? 'others'}, whose factory differs`,
    )
    factories.set(factory, { deployment: hop.deployment_id, path: `${path}.deployment_id` })
  } else findings.same(`${path}.deployment_id`, hop.deployment_id, known.deployment, [known.path])
}

async function checkDecimals(
  findings: Findings,
  node: Node,
  { hop, path }: Shown,
  blockHash: string,
): Promise<void> {
  for (const side of ['from', 'to'] as const) {
    const shown = hop[`${side}_decimals`]
    if (shown === null) continue
    const decimals = (await node.call(hop[side], DECIMALS, blockHash)).uint(0)
    findings.same(`${path}.${side}_decimals`, shown, Number(decimals), [`${path}.${side}`])
  }
}

async function checkSale(
  findings: Findings,
  node: Node,
  { hop, path }: Shown,
  finalized: number | null,
): Promise<void> {
  const own = `${path}.evidence`
  const { evidence } = hop
  if (evidence === null) return
  await checkBlock(findings, node, evidence, own, 'observed_at_ms')
  if (evidence.finality === 'finalized' && finalized !== null)
    findings.holds(
      `${own}.finality`,
      evidence.finality,
      evidence.block_number <= finalized,
      `at or below ${finalized}, what the node calls finalized`,
      [`${own}.block_number`],
    )
  if (evidence.kind === 'SIMULATED_SWAP') return
  const family = atNode(findings, hop, path)
  const { swaps, swapTopic } = family
  const logs = await node.ask<readonly Log[]>('eth_getLogs', {
    blockHash: evidence.block_hash,
    ...(swaps === undefined ? { address: hop.pool_address, topics: [swapTopic] } : swaps(hop)),
  })
  const last = logs.at(-1)
  findings.holds(
    `${own}.log_index`,
    evidence.log_index,
    last !== undefined && Number(last.logIndex) === evidence.log_index,
    `the pool's last swap in the block, ${last === undefined ? 'of which there is none' : Number(last.logIndex)}`,
    [`${own}.block_hash`],
  )
  const log = logs.find(each => Number(each.logIndex) === evidence.log_index)
  if (log === undefined) return
  findings.same(`${own}.transaction_hash`, evidence.transaction_hash, log.transactionHash.toLowerCase(), [
    `${own}.log_index`,
  ])
  const { input, output } = saleIn(family, knownFamily(findings, hop, path).x(hop), log)
  findings.same(`${own}.amount_in`, evidence.amount_in, input.toString(), [`${own}.log_index`])
  findings.same(`${own}.amount_out`, evidence.amount_out, output.toString(), [`${own}.log_index`])
}

const atNode = (findings: Findings, hop: Hop, path: string): ChainFamily =>
  chainFamilyOf(hop.family) ?? findings.unreadable(`${path}.family`, hop.family, 'a family of this SDK')

/** Net X in and net Y out. */
function saleIn(
  family: ChainFamily,
  x: 0 | 1,
  { data }: Log,
): { readonly input: bigint; readonly output: bigint } {
  const [net0, net1] = family.nets(new Words(data))
  return x === 0 ? { input: net0, output: -net1 } : { input: net1, output: -net0 }
}

/** The pool's state at the block of the quote, and the values derived from it: a simulated sale, and both depths. */
async function checkHoldings(
  findings: Findings,
  node: Node,
  { hop, path, reading }: Shown,
  blockHash: string,
): Promise<void> {
  const family = knownFamily(findings, hop, path)
  const pool = await atNode(findings, hop, path).read(node, hop, blockHash)
  findings.same(`${path}.${family.holds}`, hop[family.holds], pool.shown, ['as_of.block_hash'])
  const x = family.x(hop)
  const { evidence } = hop
  if (evidence?.kind === 'SIMULATED_SWAP') {
    const amountIn = findings.positive(`${path}.evidence.amount_in`, evidence.amount_in)
    const sold = pool.swapExactIn(x, amountIn)
    if (sold === null) throw new NodeError('the ticks read do not reach')
    findings.same(`${path}.evidence.amount_out`, evidence.amount_out, sold.toString(), [
      `${path}.evidence.amount_in`,
      'as_of.block_hash',
    ])
  }
  if (reading !== null) checkDepthAt(findings, reading, hop, path, pool, x)
}

function checkDepthAt(
  findings: Findings,
  reading: Reading,
  hop: Hop,
  path: string,
  pool: PoolAtBlock,
  x: 0 | 1,
): void {
  const anchor = usdOf(reading, hop.to)
  const depth = pool.depth(x)
  if (anchor === null || depth === null || hop.depth === null || hop.to_decimals === null) return
  const { oriented } = heldBy(findings, hop, path)
  const usd = (units: bigint) =>
    ((units * anchor.usd.num * MICRO) / (anchor.usd.den * 10n ** BigInt(hop.to_decimals ?? 0))).toString()
  findings.same(`${path}.depth.up_microusd`, hop.depth.up_microusd, usd(depth.up), ['as_of.block_hash'])
  findings.same(
    `${path}.depth.down_microusd`,
    hop.depth.down_microusd,
    usd((depth.down * oriented.num) / oriented.den),
    ['as_of.block_hash'],
  )
}
