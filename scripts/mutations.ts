/**
 * The hand mutations: small faults a tired author could write into the maths and the rules, each with the test
 * that must notice it. `npm run mutate` plants them one at a time; a mutant that survives is a missing test.
 *
 * A mutant changes what the engine says, not only how: one that no input can tell from the original proves
 * nothing. Every `find` stands in its file exactly once.
 */

/** Where the mutated files and their tests live; paths below are relative to it. */
export const MUTATED_PACKAGE = 'packages/engine'

export type Mutation = {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly killedBy: readonly string[]
  /** Run only the tests that have this in their name: where the whole file takes long, or says too little. */
  readonly pattern?: string
  /** What the mutant would do wrong. */
  readonly says: string
}

export const mutations: readonly Mutation[] = [
  // Exact arithmetic
  {
    name: 'gcd-machine-limit',
    file: 'exact/gcd.ts',
    find: 'const MACHINE = 2n ** 53n - 1n',
    replace: 'const MACHINE = 2n ** 60n',
    killedBy: ['exact/gcd.test.ts'],
    says: 'run Euclid in doubles on integers that a double cannot hold',
  },
  {
    name: 'gcd-entry-limit',
    file: 'exact/gcd.ts',
    find: 'if (nextX >= LIMB || nextY >= LIMB) break',
    replace: 'if (nextX >= LIMB && nextY >= LIMB) break',
    killedBy: ['exact/gcd.test.ts'],
    says: 'let an entry of the matrix grow past 26 bits, so that its products are no longer exact',
  },
  {
    name: 'ratio-compare-margin',
    file: 'exact/ratio.ts',
    find: 'const MARGIN = 1 + 2 ** -49',
    replace: 'const MARGIN = 1',
    killedBy: ['exact/ratio.test.ts'],
    says: 'let floats order two prices they cannot tell apart',
  },
  {
    name: 'ratio-reduce',
    file: 'exact/ratio.ts',
    find: 'fitting(num / divisor, den / divisor)',
    replace: 'fitting(num, den)',
    killedBy: ['exact/ratio.test.ts'],
    says: 'publish fractions that are not reduced, so equal prices differ',
  },
  {
    name: 'ratio-4096-bits',
    file: 'exact/ratio.ts',
    find: 'if (num < BEYOND_MAX_BITS && den < BEYOND_MAX_BITS)',
    replace: 'if (num <= BEYOND_MAX_BITS && den <= BEYOND_MAX_BITS)',
    killedBy: ['exact/ratio.test.ts'],
    says: 'accept a side of 4097 bits',
  },
  {
    name: 'decimal-tie',
    file: 'exact/decimal.ts',
    find: 'twiceRest > den || (twiceRest === den && (digits & 1n) === 1n)',
    replace: 'twiceRest >= den',
    killedBy: ['exact/decimal.test.ts', 'exact/oracle.test.ts'],
    says: 'round a tie of the display up instead of to even',
  },
  {
    name: 'square-root-first-step',
    file: 'exact/squareRoot.ts',
    find: '  root = (root + n / root) >> 1n\n  for (;;) {',
    replace: '  for (;;) {',
    killedBy: ['exact/squareRoot.test.ts'],
    says: 'return a float guess below the root as the root',
  },

  // Pools
  {
    name: 'v3-fee-rounding',
    file: 'amm/swapMath.ts',
    find: '(netInput * PPM + (tradingPpm - 1n)) / tradingPpm',
    replace: '(netInput * PPM) / tradingPpm',
    killedBy: ['amm/sdk.test.ts'],
    pattern: 'one step agrees',
    says: 'round the fee of a swap step down, a unit less than the contract takes',
  },
  {
    name: 'v3-input-rounding',
    file: 'amm/swapMath.ts',
    find: 'const needed = (area + Q96_LESS_ONE) >> 96n',
    replace: 'const needed = area >> 96n',
    killedBy: ['amm/sdk.test.ts'],
    pattern: 'one step agrees',
    says: 'round the token1 a step takes in down',
  },
  {
    name: 'v3-price-rounding',
    file: 'amm/sqrtPriceMath.ts',
    find: 'return divideUp(numerator * sqrtPriceX96, denominator)',
    replace: 'return (numerator * sqrtPriceX96) / denominator',
    killedBy: ['amm/sdk.test.ts'],
    pattern: 'the price after an input of token0 agrees',
    says: 'move the price further than the input paid for',
  },
  {
    name: 'v3-cross-sign',
    file: 'amm/swapLoop.ts',
    find: 'liquidity += side === 0 ? -net : net',
    replace: 'liquidity += side === 0 ? net : -net',
    killedBy: ['amm/swapLoop.test.ts'],
    says: 'add the liquidity that leaves when a tick is crossed, and take away what enters',
  },
  {
    name: 'v3-word-edge',
    file: 'amm/tickBitmap.ts',
    find: 'const edge = ((compressed + 1) | LAST_BIT) * tickSpacing',
    replace: 'const edge = (compressed | LAST_BIT) * tickSpacing',
    killedBy: ['amm/tickBitmap.test.ts'],
    says: 'stop a rising swap at the edge of the word it has just left',
  },
  {
    name: 'v3-swap-verified',
    file: 'amm/swapCheck.ts',
    find: '    a.liquidity === b.liquidity &&\n',
    replace: '',
    killedBy: ['amm/v3.test.ts'],
    pattern: 'with another tick or liquidity',
    says: 'verify a Swap event whose liquidity does not follow from the ticks',
  },
  {
    name: 'v3-mint-outside',
    file: 'amm/v3.ts',
    find: 'state.tick >= lower && state.tick < upper &&',
    replace: 'state.tick >= lower && state.tick <= upper &&',
    killedBy: ['amm/v3.test.ts'],
    pattern: 'the liquidity in force only around the price',
    says: 'count a position as active at the upper tick, where it has ended',
  },
  {
    name: 'depth-limit-below',
    file: 'amm/priceLimit.ts',
    find: 'floorProduct(sqrtPriceX96, root) + 1n',
    replace: 'floorProduct(sqrtPriceX96, root)',
    killedBy: ['amm/priceLimit.test.ts'],
    says: 'end the depth of a falling price one unit outside the 2% boundary',
  },
  {
    name: 'depth-limit-above',
    file: 'amm/priceLimit.ts',
    find: 'exact === null ? floorProduct(sqrtPriceX96, root) :',
    replace: 'exact === null ? floorProduct(sqrtPriceX96, root) + 1n :',
    killedBy: ['amm/priceLimit.test.ts'],
    says: 'end the depth of a rising price one unit outside the 2% boundary',
  },
  {
    name: 'depth-index-update',
    file: 'amm/depthIndex.ts',
    find: 'const moved = (lane.sums[end] as bigint) - before',
    replace: 'const moved = 0n * before',
    killedBy: ['amm/depthIndex.test.ts'],
    says: 'leave the sums above a Mint as they were before it',
  },
  {
    name: 'depth-index-base',
    file: 'amm/depthIndex.ts',
    find: 'if (lower <= this.#low) this.#base += delta',
    replace: 'if (lower < this.#low) this.#base += delta',
    killedBy: ['amm/depthIndex.test.ts'],
    pattern: 'follows changes that begin or end where its window does',
    says: 'miss a Mint that begins exactly where the window of the index does',
  },
  {
    name: 'v2-fee',
    file: 'amm/constantProduct.ts',
    find: 'const trading = amountIn * fee.numerator',
    replace: 'const trading = amountIn * fee.denominator',
    killedBy: ['amm/v2.test.ts'],
    says: 'swap on a v2 pair free of charge',
  },
  {
    name: 'v2-greatest-input',
    file: 'amm/constantProduct.ts',
    find: 'if (next > reach(nextOut)) return next - 1n',
    replace: 'if (next > reach(nextOut)) return next',
    killedBy: ['amm/constantProduct.test.ts'],
    says: 'count one unit as depth that already crosses the 2% boundary',
  },
  {
    name: 'v2-swap-verified',
    file: 'amm/v2.ts',
    find: 'const kept = denominator - numerator',
    replace: 'const kept = denominator - denominator',
    killedBy: ['amm/v2.test.ts'],
    says: 'verify a v2 Swap that has not paid its fee',
  },

  // Depth, time and bands
  {
    name: 'ewma-shift',
    file: 'price/depthAverage.ts',
    find: '(((e - held) * decay(ms(t - t0))) >> DECAY_BITS)',
    replace: '((e - held) * decay(ms(t - t0))) / ONE',
    killedBy: ['price/depthAverage.test.ts', 'price/oracle.test.ts'],
    says: 'round a growing average up, towards depth that is not there yet',
  },
  {
    name: 'ewma-decay',
    file: 'price/depthAverage.ts',
    find: 'return { e: average(state, t), l, t0: t }',
    replace: 'return { e: state.e, l, t0: t }',
    killedBy: ['price/depthAverage.test.ts'],
    says: 'forget at every change the time that has passed since the last one',
  },
  {
    name: 'ewma-effective',
    file: 'price/depthAverage.ts',
    find: 'return averaged < state.l ? averaged : state.l',
    replace: 'return averaged',
    killedBy: ['price/depthAverage.test.ts'],
    says: 'go on trusting depth that has just been withdrawn',
  },
  {
    name: 'temporal-half',
    file: 'price/temporal.ts',
    find: '2 * belowMs >= WINDOW_MS ? -1',
    replace: '2 * belowMs > WINDOW_MS ? -1',
    killedBy: ['price/temporal.test.ts'],
    pattern: 'exactly half is enough',
    says: 'ask for more than half of the five minutes where half is enough',
  },
  {
    name: 'temporal-window',
    file: 'price/temporal.ts',
    find: 'ms(Math.min(0, fromAt(history, start) - toMs + WINDOW_MS))',
    replace: 'ms(0)',
    killedBy: ['price/temporal.test.ts'],
    says: 'weigh a price by time it held before the window began',
  },
  {
    name: 'tally-gone',
    file: 'price/tally.ts',
    find: 'if (this.#first < start) this.#first = this.#sameMs > 0 ? this.#nextSame(changes) : NOWHERE',
    replace: '',
    killedBy: ['price/tally.test.ts'],
    says: 'name a median as it was written before the window began',
  },
  {
    name: 'temporal-branch',
    file: 'price/temporal.ts',
    find: 'if (tape.fromMs[end] === ended.fromMs && tape.ratios[end] === ended.ratio) return tape',
    replace: 'if (tape.fromMs[end] === ended.fromMs) return tape',
    killedBy: ['price/temporal.test.ts'],
    pattern: 'no history is changed by those that go on from it',
    says: 'go on after a reorganisation with a price of the branch that is gone',
  },
  {
    name: 'temporal-shared',
    file: 'price/temporal.ts',
    find: 'if (end === tape.fromMs.length && kept >= SHORT && kept >= start) {',
    replace: 'if (kept >= SHORT && kept >= start) {',
    killedBy: ['price/temporal.test.ts'],
    pattern: 'no history is changed by those that go on from it',
    says: 'add the price of a new branch behind those of the branch that is gone',
  },
  {
    name: 'depth-band',
    file: 'price/bands.ts',
    find: 'if (depthMicrousd < from) break',
    replace: 'if (depthMicrousd <= from) break',
    killedBy: ['price/bands.test.ts'],
    says: 'put a depth on a boundary into the lower band',
  },
  {
    name: 'freshness-expired',
    file: 'price/bands.ts',
    find: 'return ageMs >= ttlMs',
    replace: 'return ageMs > ttlMs',
    killedBy: ['price/bands.test.ts'],
    says: 'keep an edge alive at the full TTL',
  },
  {
    name: 'coverage-least',
    file: 'price/bands.ts',
    find: 'let bands = 1\n  for (const from of COVERAGE_FROM_BPS)',
    replace: 'let bands = 0\n  for (const from of COVERAGE_FROM_BPS)',
    killedBy: ['price/bands.test.ts'],
    says: 'give 0 to anchors that cover little, so that outside data takes a price away',
  },
  {
    name: 'proven-run',
    file: 'price/edge.ts',
    find: 'if (state.verifiedNumber >= run.first - 1)',
    replace: 'if (state.verifiedNumber >= run.first - 2)',
    killedBy: ['price/edge.test.ts'],
    pattern: 'a pool verified before an unproven block',
    says: 're-verify a pool by proven blocks although an unproven one lies between',
  },
  {
    name: 'jump-hold',
    file: 'price/jump.ts',
    find: 'latest: ratio, sinceMs: jump.sinceMs }',
    replace: 'latest: ratio, sinceMs: timeMs }',
    killedBy: ['price/jump.test.ts'],
    says: 'start the half hour of a jump again at every trade',
  },
  {
    name: 'stable-nominal',
    file: 'price/stableGuard.ts',
    find: 'if (isForgotten && isAtMost(deviationBps, BigInt(policy.stable.nominal_limit_bps))) return',
    replace: 'if (isForgotten) return',
    killedBy: ['price/stableGuard.test.ts'],
    says: 'put a stable last seen off its peg back to 1 for want of news',
  },

  // Observations and consensus
  {
    name: 'orientation',
    file: 'setup.ts',
    find: 'rank(setup, token0) < rank(setup, token1) ? 1 : 0',
    replace: 'rank(setup, token0) <= rank(setup, token1) ? 1 : 0',
    killedBy: ['setup.test.ts'],
    says: 'turn a pair of two plain tokens over',
  },
  {
    name: 'evidence-within-depth',
    file: 'price/evidence.ts',
    find: 'input < reference || input > depth.down || output <= 0n',
    replace: 'input < reference || output <= 0n',
    killedBy: ['price/evidence.test.ts'],
    says: 'take a sale as evidence that went through more than the depth',
  },
  {
    name: 'evidence-skimmed',
    file: 'price/evidence.ts',
    find: 'output * 10_000n < fair.amountOut * BigInt',
    replace: 'output * 20_000n < fair.amountOut * BigInt',
    killedBy: ['price/evidence.test.ts'],
    says: 'take a sale as evidence that paid out less than the formula of its pool',
  },
  {
    name: 'shared-edge',
    file: 'price/capacity.ts',
    find: 'load[edge] = (load[edge] as bigint) + least',
    replace: 'load[edge] = least',
    killedBy: ['price/capacity.test.ts'],
    says: 'let every route through a pool claim all of its capacity',
  },
  {
    name: 'dead-hop-climbing',
    file: 'price/edge.ts',
    find: 'return isFarBelow(effective, depthY) ? ms(Math.min(atMs + CLIMBING_MS, expiresAtMs)) : null',
    replace: 'return expiresAtMs',
    killedBy: ['price/ownHops.test.ts'],
    says: 'not look again at a hop too shallow to count whose depth still climbs',
  },
  {
    name: 'pair-vote-median',
    file: 'price/pairAgreement.ts',
    find: 'return pools[at] === median',
    replace: 'return true',
    killedBy: ['price/pairAgreement.test.ts'],
    pattern: 'earns its weight',
    says: 'keep what a pair agreed on although another pool has become its median',
  },
  {
    name: 'pools-aside-verified',
    file: 'price/ownHops.ts',
    find: 'return least >= latest.first - 1 && most <= latest.last',
    replace: 'return true',
    killedBy: ['price/ownHops.test.ts'],
    pattern: 'ages like the others',
    says: 'count a pool into no anchor as verified by blocks that do not reach back to it',
  },
  {
    name: 'observation-dust',
    file: 'price/observations.ts',
    find: 'if (weight * 10_000n < least) small.add(edge)',
    replace: 'if (weight * 10_000n <= least) small.add(edge)',
    killedBy: ['price/routes.test.ts'],
    pattern: 'with exactly 2% of the weight votes',
    says: 'silence a pool with exactly 2% of the weight',
  },
  {
    name: 'weighted-median-half',
    file: 'price/weightedMedian.ts',
    find: 'if (cumulative >= half) return',
    replace: 'if (cumulative > half) return',
    killedBy: ['price/weightedMedian.test.ts'],
    says: 'pass over the price at which exactly half of the weight is reached',
  },
  {
    name: 'tau-clamp',
    file: 'price/consensus.ts',
    find: 'return scaled > TAU_MAX_BPS ? TAU_MAX_BPS : scaled',
    replace: 'return scaled',
    killedBy: ['price/consensus.test.ts'],
    says: 'accept an observation 10% and more away once enough of them disagree',
  },
  {
    name: 'tau-ceil',
    file: 'price/consensus.ts',
    find: 'const scaled = (TAU_NUM * madBps.num + den - 1n) / den',
    replace: 'const scaled = (TAU_NUM * madBps.num) / den',
    killedBy: ['price/consensus.test.ts'],
    says: 'round the threshold down and reject what lies on it',
  },
  {
    name: 'kept-weight',
    file: 'price/consensus.ts',
    find: 'KEPT_DEN * inlierWeight >= KEPT_NUM * totalWeight',
    replace: 'KEPT_DEN * inlierWeight > KEPT_NUM * totalWeight',
    killedBy: ['price/consensus.test.ts'],
    says: 'refuse survivors that keep exactly 67% of the weight',
  },
  {
    name: 'two-deployments',
    file: 'price/consensus.ts',
    find: 'return hasTwoPools && hasTwoDeployments',
    replace: 'return hasTwoPools',
    killedBy: ['price/consensus.test.ts'],
    says: 'let two pools of one deployment outvote the rest',
  },
  {
    name: 'pair-agreement',
    file: 'price/pairAgreement.ts',
    find: 'byPool.set(pool, agrees ? shared :',
    replace: 'byPool.set(pool, agrees || true ? shared :',
    killedBy: ['price/pairAgreement.test.ts'],
    says: 'give the pool that the others outvote the agreement of the others',
  },
  {
    name: 'imbalance-consensus',
    file: 'price/imbalance.ts',
    find: 'const CONSENSUS_PERCENT = 67n',
    replace: 'const CONSENSUS_PERCENT = 50n',
    killedBy: ['price/imbalance.test.ts'],
    pattern: 'two halves stay an unresolved split',
    says: 'throw out one of two equal halves that disagree',
  },

  // Confidence
  {
    name: 'material-routes',
    file: 'price/priced.ts',
    find: 'sources.has(route.first) && (route.via === null || route.via.route.material)',
    replace: 'sources.has(route.first)',
    killedBy: ['price/evaluate.test.ts'],
    pattern: 'a route whose continuation is not material',
    says: 'let a negligible continuation hold the published score back',
  },
  {
    name: 'published-score',
    file: 'price/priced.ts',
    find: 'components.material_routes.score, components.aggregate_state.score],',
    replace: 'components.material_routes.score],',
    killedBy: ['price/evaluate.test.ts'],
    pattern: 'a decimals reading that is not final',
    says: 'publish a score above the weakest of its components',
  },

  // The chain, the records and the store
  {
    name: 'undo-ticks',
    file: 'chain/journal.ts',
    find: 'delta: -undo.change.delta',
    replace: 'delta: undo.change.delta',
    killedBy: ['chain/blocks.test.ts'],
    pattern: 'undoes the ticks of a v3 pool',
    says: 'add the liquidity of an orphaned Mint a second time instead of taking it back',
  },
  {
    name: 'undo-first-image',
    file: 'chain/journal.ts',
    find: '!journal.created.has(pool.address) && !journal.pools.has(pool.address)',
    replace: '!journal.created.has(pool.address)',
    killedBy: ['chain/blocks.test.ts'],
    pattern: 'undoes a pool that was read again at the orphaned block',
    says: 'undo a block to the state between two of its changes',
  },
  {
    name: 'deferred-again',
    file: 'publish.ts',
    find: '{ publish: false, againMs: readyMs }',
    replace: '{ publish: false, againMs: null }',
    killedBy: ['publish.test.ts'],
    pattern: 'at most every 10 seconds, and then by a timer',
    says: 'forget a token whose anchor moved while its last record was too young',
  },
  {
    name: 'move-boundary',
    file: 'price/moveWatch.ts',
    find: 'return high * 10_000n >= low * (10_000n + bps)',
    replace: 'return high * 10_000n > low * (10_000n + bps)',
    killedBy: ['price/moveWatch.test.ts'],
    says: 'not re-publish after a move of exactly 10 basis points',
  },
  {
    name: 'codec-history',
    file: 'codec.ts',
    find: 'history: temporal.restore(image.history),',
    replace: 'history: temporal.EMPTY,',
    killedBy: ['laws.test.ts'],
    pattern: 'a restart anywhere is no restart',
    says: 'forget across a restart the five minutes of prices before it',
  },
  {
    name: 'codec-priced',
    file: 'codec.ts',
    find: "if (token.published?.compact.state === 'PRICED') state.index.priced.add(token)",
    replace: '',
    killedBy: ['laws.test.ts'],
    pattern: 'a restart anywhere is no restart',
    says: 'forget across a restart who has a price and must hear of its anchor',
  },
  {
    name: 'codec-undo',
    file: 'codec.ts',
    find: 'pools: new Map(image.pools.map(([address, state]) => [address, stateFrom(state)])),',
    replace: 'pools: new Map(),',
    killedBy: ['laws.test.ts'],
    pattern: 'a restart anywhere is no restart',
    says: 'read a journal back without the states it should undo to',
  },
]

/** The docs table: one row per mutation, in this order. */
export function tableOf(list: readonly Mutation[]): string[] {
  return [
    '| name | file | what it would do wrong | killed by |',
    '|---|---|---|---|',
    ...list.map(({ name, file, says, killedBy, pattern }) => {
      const tests = killedBy.map(each => `\`${each}\``).join(', ')
      const named = pattern === undefined ? '' : ` (“${pattern}”)`
      return `| \`${name}\` | \`${file}\` | ${says} | ${tests}${named} |`
    }),
  ]
}

/** The text with the mutation in it, or null where what it looks for does not stand there exactly once. */
export function mutated(text: string, { find, replace }: Mutation): string | null {
  const parts = text.split(find)
  return parts.length === 2 ? parts.join(replace) : null
}
