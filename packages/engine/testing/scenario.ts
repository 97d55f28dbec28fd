/**
 * A chain and an engine that a test drives, and one-line ways to see what came of it: `const s = scenario();
 * s.v2(P1, [T, …], [USDC, …]); s.enrol(T); s.price(T)`. A test only states what is particular to it.
 */
import { assert } from '../assert.ts'
import type { Address } from '../chain/block.ts'
import { evaluate, valueAssets } from '../price/evaluate.ts'
import type { Edge, Evaluation, Priced } from '../price/evaluation.ts'
import type { Moment } from '../price/moment.ts'
import { momentOf } from '../price/momentOf.ts'
import { quoteText } from '../price/publish/quoteJson.ts'
import type { CompactPriced, CompactState, EngineRecord, PoolStateText } from '../record.ts'
import type { Token } from '../entities.ts'
import type { Rational } from './byHand.ts'
import { Drive, type Setting } from './drive.ts'
import type { QuoteView } from './quoteView.ts'
import { contentOf } from './recordLaws.ts'

export const scenario = (setting: Setting = {}): Scenario => new Scenario(setting)

export class Scenario extends Drive {
  token(token: Address): Token {
    const known = this.state.tokens.get(token)
    assert(known !== undefined, () => `${token} is not known`)
    return known
  }

  moment(): Moment {
    const moment = momentOf(this.state, this.nowMs)
    valueAssets(moment)
    return moment
  }

  edge(pool: Address): Edge {
    return this.moment().edge(this.pool(pool))
  }

  /** Computed now, published or not. */
  evaluation(token: Address): Evaluation {
    const moment = this.moment()
    return moment.valuations.get(token)?.evaluation ?? evaluate(moment, token)
  }

  pricedNow(token: Address): Priced {
    const evaluation = this.evaluation(token)
    assert(
      evaluation.kind === 'PRICED',
      () =>
        `${token} is UNPRICED: ${evaluation.kind === 'UNPRICED' ? evaluation.reason : ''} ${rulesOf(evaluation)}`,
    )
    return evaluation
  }

  quote(token: Address): QuoteView {
    const text: unknown = quoteText(
      this.state.setup.chainId,
      this.evaluation(token),
      this.state.policyView.version,
      'COMPUTED',
    )
    return text as QuoteView
  }

  /** The last record's state. */
  published(token: Address): CompactState {
    const { published } = this.token(token)
    assert(published !== null, () => `${token} was never published`)
    return published.compact
  }

  priced(token: Address): CompactPriced {
    const compact = this.published(token)
    assert(
      compact.state === 'PRICED',
      () =>
        `${token} is UNPRICED: ${'reason' in compact ? compact.reason : ''} ${rulesOf(this.evaluation(token))}`,
    )
    return compact
  }

  /** The reason why not. */
  unpriced(token: Address): string {
    const compact = this.published(token)
    assert(compact.state === 'UNPRICED', () => `${token} is PRICED`)
    return compact.reason
  }

  price(token: Address): Rational {
    const { numerator, denominator } = this.priced(token).price_usd
    return { num: BigInt(numerator), den: BigInt(denominator) }
  }

  score(token: Address): number {
    return this.priced(token).confidence.score
  }

  /** Records of the last step, by what they are about. */
  tokenRecords(token?: Address): EngineRecord[] {
    return this.#recordsOf('token').filter(
      record => token === undefined || record.routing.token_ids.includes(this.token(token).id),
    )
  }

  poolRecords(): EngineRecord[] {
    return this.#recordsOf('pool')
  }

  swapRecords(): Extract<EngineRecord, { type: 'SWAP_OBSERVED' }>[] {
    return this.result.records.filter(record => record.type === 'SWAP_OBSERVED')
  }

  /** The state in the last step's record of this pool. */
  poolText(pool: Address): PoolStateText {
    const id = this.pool(pool).id
    const record = this.poolRecords().find(each => each.routing.pool_ids.includes(id))
    assert(record !== undefined, () => `no record of ${pool}`)
    return contentOf(record) as PoolStateText
  }

  /** `type reason` of the last step's record of this token, or `none`. */
  said(token: Address): string {
    const [record] = this.tokenRecords(token)
    if (record === undefined) return 'none'
    return record.type === 'PRICE_RETRACT' ? `PRICE_RETRACT ${record.payload.reason}` : record.type
  }

  #recordsOf(scope: 'token' | 'pool'): EngineRecord[] {
    return this.result.records.filter(
      record =>
        (record.type === 'PRICE_UPSERT' || record.type === 'PRICE_RETRACT') && record.payload.scope === scope,
    )
  }
}

const rulesOf = ({ routes }: Evaluation): string =>
  routes
    .map(({ failure, exclusion }) => `${failure?.rule ?? exclusion ?? 'ok'} ${failure?.actual ?? ''}`)
    .join('; ')
