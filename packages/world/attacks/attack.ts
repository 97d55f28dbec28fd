/** An attack: what is done to a price, and what must be published of it. */
import type { Stage } from './stage.ts'

export type Attack = {
  /** Unique; begins with the case of the list it stands for, if it does. */
  readonly name: string
  /** One line: what happens. */
  readonly about: string
  /**
   * `engine`: order inside a block does not matter, or no chain can show it. `chain`: only the whole service on real
   * contracts shows it. `both`: it runs on either and must hold on each.
   */
  readonly on: 'engine' | 'chain' | 'both'
  /** What a wrong price is measured against: the price before the attack, or what a seller of 1,000 USD gets. */
  readonly against?: 'before' | 'seller'
  readonly wanted: Wanted
  /**
   * The rule that answers it is not built: it is expected to fail. Once it holds, the tests fail until this is taken
   * out, so that nothing is counted as open which is not, and nothing as held which is open.
   */
  readonly open?: string
  readonly play: (stage: Stage) => Promise<void>
}

/** Of every look, beside the measure of what counts as wrong. */
export type Wanted = {
  /** The score, where there is a price. */
  readonly atMost?: number
  readonly atLeast?: number
  /** The price itself must not be further from the truth than this share, whatever its score. */
  readonly within?: number
  readonly state?: 'PRICED' | 'UNPRICED'
  /** Changes of the published score while it was watched. */
  readonly changes?: number
  /** A cap or a reason that says why. */
  readonly code?: string
}
