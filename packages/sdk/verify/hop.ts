/**
 * One hop: its ratio from the evidence, its marginal price and depth from the pool's holdings.
 */
import { depthScore, devBps, type Fraction } from '@assay/engine/rules'
import type { Hop } from '../wire/route.ts'
import type { Findings } from './findings.ts'
import { type Anchors, checkComponents, checkScore } from './hopScore.ts'
import { FAMILY_NAMES, familyOf } from './pools/families.ts'
import type { Held, ShownFamily } from './pools/family.ts'
import { type Reading, usdOf } from './reading.ts'

const MICRO = 1_000_000n
/** A sale stays inside 2% of the depth, so its price does too, apart from the fee. */
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
  if (hop.evidence === null) return findings.unreadable(own, null, 'the sale behind the ratio')
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
    // An observed sale has itself moved the price down to its present value, so its own price may be higher.
    (hop.evidence.kind === 'OBSERVED_SWAP' || sold.num * fair.den <= fair.num * sold.den) &&
      deviation.num * 100n <= allowedPpm * deviation.den,
    'a sale: off the marginal price by no more than the fee and 2%, and below it where it is simulated',
    [`${path}.marginal`, `${path}.fee_ppm`],
  )
}

/** L = min(D_up, D_down); L_eff = min(L, its average). Recomputes both when the quote shows all of their inputs. */
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
  checkShownDepth(reading, hop, path)
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
    // Floored dollars may differ by one from the exact comparison of units.
    high <= (low + 1n) * BigInt(policy.depth_asymmetry),
    `up and down within ${policy.depth_asymmetry}×`,
  )
}

function checkShownDepth(reading: Reading, hop: Hop, path: string): void {
  const { findings } = reading
  const { priced, oriented, x, from } = heldBy(findings, hop, path)
  const anchor = usdOf(reading, hop.to)
  if (priced === null || anchor === null || hop.depth === null) return
  const depth = priced.depth(x)
  if (depth === null) return
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
  const sold = priced.swapExactIn(x, amountIn)
  if (sold !== null)
    findings.same(`${path}.evidence.amount_out`, evidence.amount_out, sold.toString(), [
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

/** The pool's holdings as the hop shows them, and its fee-free price in the hop's direction. */
export function heldBy(
  findings: Findings,
  hop: Hop,
  path: string,
): Omit<Held, 'marginal'> & { readonly oriented: Fraction; readonly x: 0 | 1 } {
  const family = knownFamily(findings, hop, path)
  const { marginal, ...held } = family.held(findings, hop, path)
  const x = family.x(hop)
  return { ...held, x, oriented: x === 0 ? marginal : { num: marginal.den, den: marginal.num } }
}

export function knownFamily(findings: Findings, hop: Hop, path: string): ShownFamily {
  return familyOf(hop.family) ?? findings.unreadable(`${path}.family`, hop.family, FAMILY_NAMES.join(' or '))
}

function scaleOf(findings: Findings, hop: Hop, path: string): { readonly from: bigint; readonly to: bigint } {
  const power = (name: 'from_decimals' | 'to_decimals') => {
    const value = findings.integer(`${path}.${name}`, hop[name])
    return value <= 36 ? 10n ** BigInt(value) : findings.unreadable(`${path}.${name}`, value, 'from 0 to 36')
  }
  return { from: power('from_decimals'), to: power('to_decimals') }
}
