/**
 * One hop: its ratio from the evidence, its marginal price and depth from what the pool holds.
 */
import {
  depthScore,
  DEPTH_BOUNDARY,
  devBps,
  type Fraction,
  isTickAt,
  marginalV3,
  tick,
  v2,
  type V2State,
  type V2Terms,
  type V3State,
} from '@assay/engine/rules'
import type { Hop } from '../wire/route.ts'
import type { Findings } from './findings.ts'
import { type Anchors, checkComponents, checkScore } from './hopScore.ts'
import { type Reading, usdOf } from './reading.ts'

const MICRO = 1_000_000n
const PPM = 1_000_000n
/** A sale stays inside the 2% of the depth, so its price does too, fee aside. */
const SALE_PPM = 20_000n

export function checkHop(reading: Reading, hop: Hop, path: string, anchors: Anchors | null): void {
  const { findings } = reading
  const isLive = hop.failure === undefined
  if (isLive || (hop.ratio !== null && hop.evidence !== null))
    findings.part(() => checkRatio(findings, hop, path))
  if (isLive || hop.marginal !== null) findings.part(() => checkMarginal(findings, hop, path))
  if (isLive || hop.depth !== null) findings.part(() => checkDepth(reading, hop, path))
  checkComponents(reading, hop, path)
  if (isLive) findings.part(() => checkScore(reading, hop, path, anchors))
  else findings.same(`${path}.score`, hop.score, 0, [`${path}.failure.rule`])
}

/** q(X→Y) = (a · 10^dX) / (b · 10^dY). */
function checkRatio(findings: Findings, hop: Hop, path: string): void {
  const own = `${path}.evidence`
  if (hop.evidence === null) return findings.unreadable(own, null, 'the sale the ratio comes from')
  const amountIn = findings.positive(`${own}.amount_in`, hop.evidence.amount_in)
  const amountOut = findings.positive(`${own}.amount_out`, hop.evidence.amount_out)
  const scale = scaleOf(findings, hop, path)
  findings.exact(`${path}.ratio`, hop.ratio, { num: amountOut * scale.from, den: amountIn * scale.to }, [
    `${own}.amount_in`,
    `${own}.amount_out`,
    `${path}.from_decimals`,
    `${path}.to_decimals`,
  ])
  const isSeen = hop.evidence.kind === 'OBSERVED_SWAP'
  for (const name of ['transaction_hash', 'log_index'] as const)
    findings.holds(
      `${own}.${name}`,
      hop.evidence[name],
      (hop.evidence[name] !== null) === isSeen && (isSeen || hop.evidence.kind === 'SIMULATED_SWAP'),
      'where a sale was seen, and null for a simulated one',
      [`${own}.kind`],
    )
  findings.same(`${own}.finality`, hop.evidence.finality, hop.components.state.finality, [
    `${path}.components.state.finality`,
  ])
}

function checkMarginal(findings: Findings, hop: Hop, path: string): void {
  const scale = scaleOf(findings, hop, path)
  const { oriented, from } = heldBy(findings, hop, path)
  findings.exact(
    `${path}.marginal`,
    hop.marginal,
    { num: oriented.num * scale.from, den: oriented.den * scale.to },
    [...from, `${path}.from_decimals`, `${path}.to_decimals`],
  )
  if (hop.ratio === null || hop.evidence === null) return
  const sold = findings.value(`${path}.ratio`, hop.ratio)
  const fair = findings.value(`${path}.marginal`, hop.marginal)
  const deviation = devBps(sold, fair)
  const allowedPpm = BigInt(findings.integer(`${path}.fee_ppm`, hop.fee_ppm)) + SALE_PPM
  findings.holds(
    `${path}.ratio`,
    hop.ratio,
    // A sale that was seen has itself moved the price down to where it is: it may lie above it.
    (hop.evidence.kind === 'OBSERVED_SWAP' || sold.num * fair.den <= fair.num * sold.den) &&
      deviation.num * 100n <= allowedPpm * deviation.den,
    'a sale: off the marginal price by no more than the fee and 2%, and below it where it is simulated',
    [`${path}.marginal`, `${path}.fee_ppm`],
  )
}

/** L = min(D_up, D_down); L_eff = min(L, its average). For a pair both are recomputed from its reserves. */
function checkDepth(reading: Reading, hop: Hop, path: string): void {
  const { findings, policy } = reading
  const own = `${path}.depth`
  const { depth } = hop
  if (depth === null) return findings.unreadable(own, null, 'the depth of a hop that prices')
  const figure = (name: keyof typeof depth) => findings.whole(`${own}.${name}`, depth[name])
  const up = figure('up_microusd')
  const down = figure('down_microusd')
  const current = up < down ? up : down
  findings.same(`${own}.current_microusd`, depth.current_microusd, current.toString(), [
    `${own}.up_microusd`,
    `${own}.down_microusd`,
  ])
  const average = figure('ewma_microusd')
  const effective = current < average ? current : average
  findings.same(`${own}.effective_microusd`, depth.effective_microusd, effective.toString(), [
    `${own}.current_microusd`,
    `${own}.ewma_microusd`,
  ])
  const component = `${path}.components.depth`
  findings.same(`${component}.l_eff`, hop.components.depth.l_eff, effective.toString(), [own])
  findings.same(`${component}.score`, hop.components.depth.score, depthScore(effective), [
    `${component}.l_eff`,
  ])
  checkPairDepth(reading, hop, path)
  if (hop.failure !== undefined) return
  const least = BigInt(policy.min_depth_usd) * MICRO
  findings.holds(
    `${own}.effective_microusd`,
    depth.effective_microusd,
    effective >= least,
    `at least ${least}`,
  )
  const [high, low] = up > down ? [up, down] : [down, up]
  findings.holds(
    own,
    depth,
    // Floored dollars may be one off the exact comparison of units.
    high <= (low + 1n) * BigInt(policy.depth_asymmetry),
    `up and down within ${policy.depth_asymmetry}×`,
  )
}

function checkPairDepth(reading: Reading, hop: Hop, path: string): void {
  const { findings } = reading
  const held = heldBy(findings, hop, path)
  const anchor = usdOf(reading, hop.to)
  if (held.state.family !== 'amm_v2' || anchor === null || hop.depth === null) return
  const terms = pairTerms(findings, hop, path)
  const depth = v2.depth(terms, held.state, held.x, DEPTH_BOUNDARY)
  if ('reason' in depth) return
  const { oriented, from } = held
  const inputs = [...from, `${path}.fee_ppm`, anchor.path, `${path}.to_decimals`]
  const usd = (units: bigint) =>
    ((units * anchor.usd.num * MICRO) / (anchor.usd.den * scaleOf(findings, hop, path).to)).toString()
  findings.same(`${path}.depth.up_microusd`, hop.depth.up_microusd, usd(depth.up), inputs)
  findings.same(
    `${path}.depth.down_microusd`,
    hop.depth.down_microusd,
    usd((depth.down * oriented.num) / oriented.den),
    inputs,
  )
  const { evidence } = hop
  if (evidence?.kind !== 'SIMULATED_SWAP') return
  const amountIn = findings.positive(`${path}.evidence.amount_in`, evidence.amount_in)
  const sold = v2.swapExactIn(terms, held.state, held.x, amountIn)
  if (!('reason' in sold))
    findings.same(`${path}.evidence.amount_out`, evidence.amount_out, sold.amountOut.toString(), [
      ...from,
      `${path}.fee_ppm`,
      `${path}.evidence.amount_in`,
    ])
  findings.holds(
    `${path}.evidence.amount_in`,
    evidence.amount_in,
    amountIn <= depth.down,
    `at most ${depth.down}, the depth`,
    from,
  )
}

type Held = {
  readonly state: V2State | V3State
  /** Y per X in atomic units. */
  readonly oriented: Fraction
  readonly x: 0 | 1
  readonly from: readonly string[]
}

/** What the pool holds, and its fee-free price in the hop's direction. */
export function heldBy(findings: Findings, hop: Hop, path: string): Held {
  const x = hop.from < hop.to ? 0 : 1
  if (hop.family !== 'amm_v2' && hop.family !== 'amm_v3')
    return findings.unreadable(`${path}.family`, hop.family, 'amm_v2 or amm_v3')
  const [state, from] = stateOf(findings, hop, path)
  const { num, den } = state.family === 'amm_v2' ? v2.marginal(state) : marginalV3(state)
  return { state, oriented: x === 0 ? { num, den } : { num: den, den: num }, x, from }
}

function stateOf(findings: Findings, hop: Hop, path: string): [V2State | V3State, string[]] {
  if (hop.family === 'amm_v2') {
    const own = `${path}.reserves`
    if (hop.reserves === undefined)
      return findings.unreadable(own, null, 'the reserves of a pair', [`${path}.family`])
    const reserve0 = findings.positive(`${own}.reserve0`, hop.reserves.reserve0)
    const reserve1 = findings.positive(`${own}.reserve1`, hop.reserves.reserve1)
    return [{ family: 'amm_v2', reserve0, reserve1 }, [`${own}.reserve0`, `${own}.reserve1`]]
  }
  const own = `${path}.slot`
  if (hop.slot === undefined)
    return findings.unreadable(own, null, 'the slot of a v3 pool', [`${path}.family`])
  const sqrtPriceX96 = findings.positive(`${own}.sqrt_price_x96`, hop.slot.sqrt_price_x96)
  const liquidity = findings.positive(`${own}.liquidity`, hop.slot.liquidity)
  findings.holds(
    `${own}.tick`,
    hop.slot.tick,
    Number.isInteger(hop.slot.tick) && isTickAt(tick(hop.slot.tick), sqrtPriceX96),
    'the tick of the price',
    [`${own}.sqrt_price_x96`],
  )
  return [{ family: 'amm_v3', sqrtPriceX96, tick: tick(hop.slot.tick), liquidity }, [`${own}.sqrt_price_x96`]]
}

function pairTerms(findings: Findings, hop: Hop, path: string): V2Terms {
  const fee = BigInt(findings.integer(`${path}.fee_ppm`, hop.fee_ppm))
  if (fee >= PPM) return findings.unreadable(`${path}.fee_ppm`, hop.fee_ppm, 'less than the whole')
  return { family: 'amm_v2', fee: { numerator: PPM - fee, denominator: PPM } }
}

function scaleOf(findings: Findings, hop: Hop, path: string): { readonly from: bigint; readonly to: bigint } {
  const power = (name: 'from_decimals' | 'to_decimals') => {
    const value = findings.integer(`${path}.${name}`, hop[name])
    return value <= 36 ? 10n ** BigInt(value) : findings.unreadable(`${path}.${name}`, value, 'from 0 to 36')
  }
  return { from: power('from_decimals'), to: power('to_decimals') }
}
