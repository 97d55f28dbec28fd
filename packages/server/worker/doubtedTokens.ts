/**
 * Tokens whose decimals are to be read again. One behind a proxy can change them at any time: those that log an
 * upgrade are doubted at once, those that read differently once until they settle, and all others in turn.
 */
import type { State } from '@assay/engine'
import type { VerifiedBlock } from '../feed/feed.ts'
import type { Address } from '../ops/config.ts'

/** Upgraded(address) and BeaconUpgraded(address) of ERC-1967. */
const UPGRADES: ReadonlySet<string> = new Set([
  '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e',
])
/** One token's turn comes this often: reading it takes half a dozen calls. */
const TURN_MS = 10_000

export class DoubtedTokens {
  readonly #state: State
  readonly #doubted = new Set<Address>()
  #turnAtMs: number
  #turn = 0

  constructor(state: State, nowMs: number) {
    this.#state = state
    this.#turnAtMs = nowMs
  }

  /** Tokens that this block says were upgraded. */
  note(block: Pick<VerifiedBlock, 'logs'>): void {
    for (const { address, topics } of block.logs)
      if (UPGRADES.has(topics[0] ?? '') && this.#state.tokens.has(address)) this.#doubted.add(address)
  }

  /** Those to read now; each is asked for until `settled`. */
  due(nowMs: number): readonly Address[] {
    const { tokens } = this.#state
    if (nowMs - this.#turnAtMs >= TURN_MS && tokens.size > 0) {
      this.#turnAtMs = nowMs
      const next = [...tokens.keys()][this.#turn++ % tokens.size]
      if (next !== undefined) this.#doubted.add(next)
    }
    return [...this.#doubted]
  }

  /** A token was read: it stays in doubt while its last two readings differ. */
  settled(token: Address): void {
    if ((this.#state.tokens.get(token)?.decimals?.changedTo ?? null) === null) this.#doubted.delete(token)
  }
}
