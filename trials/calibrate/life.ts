/**
 * One market from one seed, with the published prices compared with a seller's: the samples of a calibration.
 *
 * A sample is a token at a block. Its price and score are the last published ones, and the seller sells after the
 * honest trades of that block and before an attacker's last ones.
 */
import { assert } from '../../packages/engine/assert.ts'
import { ATTACK_FROM, ATTACKS, type Attack } from './attacks.ts'
import { Chance } from './chance.ts'
import { decidedBy } from './decider.ts'
import { exitUsd } from './exit.ts'
import { Market, type MarketToken } from './market.ts'
import { drawPlan } from './plan.ts'
import { apartBps, type Sample } from './sample.ts'

/** Half an hour of averages, and the five minutes of every median. */
const WARM_BLOCKS = 185
const SAMPLED_BLOCKS = 240
/** Blocks between two samples of a token. */
const EVERY = 3
const VICTIM_CHANCE = 0.6
/** A pool is deep from this 2% depth on, and agrees within this many basis points after its fee. */
const DEEP_USD = 10_000
const AGREEING_BPS = 25

export type LifeOptions = { readonly seed: number; readonly policy?: unknown; readonly blocks?: number }

/** The least number of samples from a life of the usual length. */
export const SAMPLES_A_LIFE = (6 * SAMPLED_BLOCKS) / EVERY

export function liveMarket({ seed, policy, blocks = SAMPLED_BLOCKS }: LifeOptions): Sample[] {
  const chance = new Chance(seed)
  const plan = drawPlan(chance)
  const attack = chance.is(VICTIM_CHANCE) ? chance.pick(ATTACKS) : null
  const tokens = attack === null ? plan.tokens : [...plan.tokens, attack.token(chance)]
  const market = new Market({ ...plan, tokens }, seed, policy)
  const victim = attack === null ? null : (market.tokens.at(-1) as MarketToken)
  const stage = victim === null ? null : (attack as Attack).stage(market, victim, chance)
  const samples: Sample[] = []
  for (let done = 0; done < WARM_BLOCKS + blocks; done++) {
    const isStaged = market.block >= ATTACK_FROM
    if (isStaged) stage?.first()
    market.act()
    const isSampled = (token: MarketToken, at: number) =>
      done >= WARM_BLOCKS && (done + at) % EVERY === 0 && (token !== victim || isStaged)
    const due = market.tokens
      .filter(isSampled)
      .map(token => ({ token, exit: exitUsd(market, token), isAgreeing: isAgreeing(market, token) }))
    if (isStaged) stage?.last()
    market.mine()
    for (const { token, exit, isAgreeing } of due) {
      const kind = token === victim ? (attack as Attack).name : 'honest'
      samples.push({
        seed,
        token: market.tokens.indexOf(token),
        kind,
        isAgreeing,
        ...published(market, token, exit),
      })
    }
  }
  for (const { address, state } of market.scenario.state.pools.values())
    assert(state.verified && !state.incomplete, () => `pool ${address} of market ${seed} is not verified`)
  return samples
}

function published(market: Market, { plan }: MarketToken, exit: number) {
  const { scenario } = market
  const state = scenario.published(plan.address)
  const decider = decidedBy(scenario, plan.address)
  if (state.state === 'UNPRICED') return { score: 0, exitBps: 0, fairBps: 0, decider }
  const usd = Number(state.price_usd.display)
  const fairBps = apartBps(usd, market.wholeUsd(plan.address))
  return {
    score: state.confidence.score,
    exitBps: exit > 0 ? apartBps(usd, exit) : Infinity,
    fairBps,
    decider,
  }
}

function isAgreeing(market: Market, { pools }: MarketToken): boolean {
  const deep = pools
    .filter(pool => pool.isOpen && pool.plan.bornAt === null && pool.depthUsd(market) >= DEEP_USD)
    .map(pool => pool.tokenUsd(market) * pool.keep)
    .sort((a, b) => a - b)
  return deep.some((usd, at) => at > 0 && apartBps(usd, deep[at - 1] as number) <= AGREEING_BPS)
}
