/** An attack: the actions on a price, and the requirements for its publication. */
import type { Stage } from './stage.ts'

export type Attack = {
  /** Unique; begins with the number of the listed case that it covers, if any. */
  readonly name: string
  /** One line: what happens. */
  readonly about: string
  /**
   * `engine`: the order inside a block does not matter, or no chain can show it. `chain`: only the whole service on
   * real contracts shows it. `both`: it runs on either and must hold on each.
   */
  readonly on: 'engine' | 'chain' | 'both'
  /** The reference for a wrong price: the price before the attack, or the proceeds of selling 1,000 USD. */
  readonly against?: 'before' | 'seller'
  readonly wanted: Wanted
  /**
   * The rule against it is not built, so the attack is expected to fail. Once it holds, the tests fail until this
   * mark is removed: the list of open attacks is always exact.
   */
  readonly open?: string
  readonly play: (stage: Stage) => Promise<void>
}

/** Requirements for every look, in addition to the general measure of a wrong price. */
export type Wanted = {
  /** The greatest score allowed, if there is a price. */
  readonly atMost?: number
  readonly atLeast?: number
  /** The largest allowed distance of the price from the truth, as a share, whatever its score. */
  readonly within?: number
  readonly state?: 'PRICED' | 'UNPRICED'
  /** Most changes of the published score while it was watched. */
  readonly changes?: number
  /** A cap or a reason that explains it. */
  readonly code?: string
}
