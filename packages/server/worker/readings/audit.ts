/**
 * Compares our state with the chain again, a little at a time and in rotation: decimals of tokens, which a proxy may
 * change, and whole pools with their ticks, because only a full reading shows drift.
 *
 * Suspicious items go first: a token that logged an upgrade, at the next block; one whose decimals changed, as soon as
 * a second reading counts; and a pool whose price jumped by orders of magnitude. Nothing is written while the chain
 * agrees with us.
 */
import {
  type Address,
  heldUntilMs,
  type LoadedPool,
  type NewPool,
  type Pool,
  type State,
  type TokenFacts,
} from '@assay/engine'
import type { BlockRef, VerifiedBlock } from '../../feed/feed.ts'
import type { KnownTicks, Market } from '../../market/market.ts'

/** Upgraded(address) and BeaconUpgraded(address) of ERC-1967. */
export const UPGRADES: ReadonlySet<string> = new Set([
  '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e',
])

/** Tokens of each kind, and pools, per round. */
const TOKENS = 8
const POOLS = 2

export class Audit {
  readonly #state: State
  readonly #doubted = new Set<Address>()
  /** Tokens whose last reading failed, the oldest failure first. */
  readonly #unread = new Set<Address>()
  /** Tokens whose decimals changed, with the block time from which a second reading counts. */
  readonly #held = new Map<Address, number>()
  #token: Address | null = null
  #jumped: Address | null = null
  #pool: Address | null = null

  constructor(state: State) {
    this.#state = state
    for (const { address } of state.tokens.values()) this.#hold(address)
  }

  /** Marks tokens that were upgraded in these blocks. */
  note(blocks: readonly Pick<VerifiedBlock, 'logs'>[]): void {
    for (const { logs } of blocks)
      for (const { address, topics } of logs)
        if (UPGRADES.has(topics[0] ?? '') && this.#state.tokens.has(address)) this.#doubted.add(address)
  }

  get isInDoubt(): boolean {
    return this.#doubted.size > 0 || this.#due().length > 0
  }

  /** These tokens were read and differences recorded; changed decimals are scheduled for their second reading. */
  settle(read: readonly TokenFacts[]): void {
    for (const { token } of read) {
      this.#doubted.delete(token)
      this.#unread.delete(token)
      this.#hold(token)
    }
  }

  /** This token could not be read: it is read again with the next round, not with every block. */
  postpone(token: Address): void {
    this.#doubted.delete(token)
    this.#held.delete(token)
    // The ones that failed longest ago go first.
    this.#unread.delete(token)
    this.#unread.add(token)
  }

  #hold(token: Address): void {
    const untilMs = heldUntilMs(this.#state.tokens.get(token)?.decimals ?? null)
    if (untilMs === null) this.#held.delete(token)
    else this.#held.set(token, untilMs)
  }

  /** Held tokens whose second reading counts at the tip. */
  #due(): Address[] {
    const tipMs = this.#state.chain.tip?.timeMs ?? 0
    return [...this.#held].flatMap(([token, untilMs]) => (untilMs <= tipMs ? [token] : []))
  }

  /**
   * The next tokens in rotation, suspicious ones first. Each suspicion has places of its own, so that nobody can fill
   * all of them with tokens that cannot be read.
   */
  tokens(): readonly Address[] {
    const known = [...this.#state.tokens.values()].filter(({ decimals }) => decimals !== null)
    const jumped = new Set<Address>()
    for (const { state, token0, token1 } of this.#state.pools.values())
      if (state.jump?.jump != null) jumped.add(token0).add(token1)
    const [jumpedTurn, lastJumped] = inTurn([...jumped], this.#jumped, TOKENS)
    const [turn, last] = inTurn(
      known.map(({ address }) => address),
      this.#token,
      TOKENS,
    )
    this.#jumped = lastJumped
    this.#token = last
    const suspicious = [[...this.#doubted], this.#due(), [...this.#unread]].map(each => each.slice(0, TOKENS))
    return [...new Set([...suspicious.flat(), ...jumpedTurn, ...turn])]
  }

  /** The next pools in rotation, without those that are about to be loaded anyway. */
  pools(): readonly Pool[] {
    const sound = [...this.#state.pools.values()].filter(({ state }) => state.verified && !state.incomplete)
    const [turn, last] = inTurn(
      sound.map(({ address }) => address),
      this.#pool,
      POOLS,
    )
    this.#pool = last
    return turn.flatMap(address => this.#state.pools.get(address) ?? [])
  }

  /** Whether a reading differs from what we know of the token. */
  differs(facts: TokenFacts): boolean {
    const token = this.#state.tokens.get(facts.token)
    if (token === undefined) return false
    return (
      token.symbol !== facts.symbol ||
      token.name !== facts.name ||
      token.decimals?.value !== facts.decimals ||
      token.decimals.changedTo !== null
    )
  }
}

/** The pool as its factory describes it. */
export const bornAs = ({ address, deploymentId, token0, token1, terms, around }: Pool): NewPool => ({
  address,
  deploymentId,
  token0,
  token1,
  fee: around.adapter.born(terms),
})

/** The tick of the pool's price and its known ticks; none for a family without ticks. */
export function knownTicksOf({
  address,
  terms,
  state,
  around: { adapter },
}: Pool): readonly (readonly [Address, KnownTicks])[] {
  const book = adapter.book(terms)
  const at = adapter.tick(state.amm)
  if (book === null || at === null) return []
  return [[address, { at, set: book.entries().map(({ tick }) => tick) }]]
}

/** What each token says of itself at a block. One whose contract is gone has no decimals any more. */
export const readFacts = (
  market: Pick<Market, 'readToken'>,
  tokens: readonly Address[],
  block: BlockRef,
  signal: AbortSignal,
): Promise<readonly TokenFacts[]> =>
  Promise.all(tokens.map(async token => (await market.readToken(token, block, signal)) ?? gone(token)))

const gone = (token: Address): TokenFacts => ({
  token,
  decimals: null,
  reason: 'there is no token any more',
  symbol: null,
  name: null,
})

/** Number of ticks that differ between the chain and our state, within the range both know. */
export function driftedTicks({ terms, around }: Pool, loaded: LoadedPool): number {
  const book = around.adapter.book(terms)
  if (book === null || loaded.ticks === null) return 0
  const { range, entries } = loaded.ticks
  const isShared = (tick: number) =>
    book.isKnown(tick as never) && tick >= range.lowest && tick <= range.highest
  const text = ({ tick, gross, net }: { tick: number; gross: bigint; net: bigint }) =>
    `${tick}/${gross}/${net}`
  const ours = new Set(
    book
      .entries()
      .filter(({ tick }) => isShared(tick))
      .map(text),
  )
  const theirs = entries.filter(({ tick }) => isShared(tick)).map(text)
  const missing = theirs.filter(each => !ours.has(each)).length
  return missing + (ours.size - (theirs.length - missing))
}

/** The next items after `last`, wrapping around at the end. */
function inTurn(
  addresses: readonly Address[],
  after: Address | null,
  most: number,
): readonly [readonly Address[], Address | null] {
  const sorted = addresses.toSorted()
  const at =
    after === null
      ? 0
      : Math.max(
          0,
          sorted.findIndex(each => each > after),
        )
  const turn = [...sorted.slice(at), ...sorted.slice(0, at)].slice(0, most)
  return [turn, turn.at(-1) ?? null]
}
