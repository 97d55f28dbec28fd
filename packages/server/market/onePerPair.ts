/**
 * The part of a family that its factory decides, where a factory has at most one pool for a pair of tokens. A pool
 * counts only at the address that follows from its deployment, if that can be computed.
 */
import type { Family, NewPool } from '@assay/engine'
import type { Address, Hex } from '../ops/hex.ts'
import type { ConfigOf, MarketFamily, Pair, Reader } from './family.ts'
import { addressAt, topicAddress } from './abiWords.ts'

type Factory<Config> = {
  /** Topic of a creation, whose data begins with the address of the pool. */
  readonly created: Hex
  /** Null where the init code hash is unknown. */
  readonly derived: (deployment: Config, pair: Pair) => Address | null
  readonly born: (deployment: Config, pair: Pair, pool: Address) => NewPool
  readonly lookUp: (reader: Reader, deployment: Config, pair: Pair) => Promise<NewPool | null>
}

export function onePerPair<F extends Family>({
  created,
  derived,
  born,
  lookUp,
}: Factory<ConfigOf<F>>): Pick<MarketFamily<F>, 'derived' | 'factoryLog' | 'find' | 'identify'> {
  return {
    factoryLog(log, deployment, wants) {
      const [topic, first, second] = log.topics
      if (topic !== created || first === undefined || second === undefined) return []
      const pair = [topicAddress(first), topicAddress(second)] as const
      if (!wants(...pair)) return []
      const pool = addressAt(log.data, 0)
      if ((derived(deployment, pair) ?? pool) !== pool) return []
      return [{ pool, event: { kind: 'CREATED', pool: born(deployment, pair, pool) } }]
    },

    derived,

    async find(reader, deployment, pair) {
      const pool = await lookUp(reader, deployment, pair)
      return pool === null ? [] : [pool]
    },

    async identify(reader, deployment, pair, pool) {
      const found = await lookUp(reader, deployment, pair)
      return found?.address === pool ? found : null
    },
  }
}
