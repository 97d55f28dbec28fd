/** Which logs of the past are wanted: by the contract that emits them and by their topics, as `eth_getLogs` filters. */
import type { Hex } from '../../ops/hex.ts'
import type { LogEntry } from '../answers/entry.ts'

export type LogFilter = {
  readonly addresses: readonly Hex[]
  /** Allowed values of each topic, by position; null for any. A log without a topic that is named here does not match. */
  readonly topics: readonly (readonly Hex[] | null)[]
}

/** Values of one topic in one request. */
const MAX_VALUES = 500

/** Whether a log matches any of the filters. */
export function matcherOf(filters: readonly LogFilter[]): (log: LogEntry) => boolean {
  const sets = filters.map(({ addresses, topics }) => ({
    addresses: new Set(addresses),
    topics: topics.map(values => (values === null ? null : new Set(values))),
  }))
  return log =>
    sets.some(
      ({ addresses, topics }) =>
        addresses.has(log.address) &&
        topics.every((values, at) => {
          if (values === null) return true
          const topic = at === 0 ? log.topic : log.topicAt(at)
          return topic !== null && values.has(topic)
        }),
    )
}

/**
 * As requests whose topics have no more values than a provider takes: the longest list is spread, and any other that is
 * too long matches everything, for a block's logs are filtered again.
 */
export function spread({ addresses, topics: asked }: LogFilter): readonly LogFilter[] {
  const lengths = asked.map(values => values?.length ?? 0)
  const longest = lengths.indexOf(Math.max(...lengths))
  const topics = asked.map((values, at) =>
    at !== longest && values !== null && values.length > MAX_VALUES ? null : values,
  )
  const values = topics[longest] ?? []
  if (values.length <= MAX_VALUES) return [{ addresses, topics }]
  return Array.from({ length: Math.ceil(values.length / MAX_VALUES) }, (_, n) => ({
    addresses,
    topics: topics.with(longest, values.slice(n * MAX_VALUES, (n + 1) * MAX_VALUES)),
  }))
}
