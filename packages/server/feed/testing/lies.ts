/**
 * Answers that are well-formed and wrong, by a seed: a log left out and the others renumbered, a list that ends early, an
 * old block, a block of another fork, an empty list. Each is counted, and only if it differs from the truth.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../../world/random.ts'
import type { FaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { Handle, RpcAnswer, RpcCall } from '../../../world/proxy/rule.ts'
import { createRpc } from './localChain.ts'

type Entry = Readonly<Record<string, unknown>>
type Kind = 'omitted' | 'truncated' | 'stale' | 'fork' | 'empty'

export type Lies = {
  readonly counts: () => Readonly<Record<Kind, number>>
  readonly total: () => number
  /** From now on, or no more. */
  isOn: boolean
}

const LISTS: ReadonlySet<string> = new Set(['eth_getBlockReceipts', 'eth_getLogs'])
const BLOCKS: ReadonlySet<string> = new Set(['eth_getBlockByHash', 'eth_getBlockByNumber'])
/** The head and the identity stay true: a node that lies about those too is on another chain, and consistent. */
const TRUE_NUMBERS: ReadonlySet<unknown> = new Set(['latest', 'finalized', 'earliest', '0x0'])

/** `forkUrl`: a node with the same first block and another history. */
export function tellLies(proxy: FaultProxy, random: Random, chance: number, forkUrl: string): Lies {
  const counts = { omitted: 0, truncated: 0, stale: 0, fork: 0, empty: 0 }
  const askFork = createRpc(forkUrl)
  /** The last true lists and blocks, for later. */
  const past: RpcAnswer[] = []
  const handle: Handle = async (call, fetchAnswer) => {
    const truth = await fetchAnswer()
    const isList = LISTS.has(call.method)
    if (!isList && !(BLOCKS.has(call.method) && !TRUE_NUMBERS.has(call.params[0]))) return truth
    past.push(truth)
    if (past.length > 64) past.shift()
    if (!lies.isOn || random.uint32() >= chance * 2 ** 32) return truth
    const kinds: readonly Kind[] = isList
      ? ['omitted', 'truncated', 'stale', 'fork', 'empty']
      : ['stale', 'fork']
    const kind = random.pick(kinds)
    const lie = { result: await changed(kind, call, truth.result) }
    if (isDeepStrictEqual(lie.result, truth.result)) return truth
    counts[kind]++
    return lie
  }
  const changed = async (kind: Kind, call: RpcCall, result: unknown): Promise<unknown> => {
    switch (kind) {
      case 'empty':
        return []
      case 'omitted':
        return omitted(result as readonly Entry[], random)
      case 'truncated':
        return truncated(result as readonly Entry[], random)
      case 'stale':
        return ownedBy(result, random.pick(past).result)
      case 'fork': {
        if (BLOCKS.has(call.method)) {
          const number = (result as Entry | null)?.['number'] ?? '0x1'
          return (await askFork('eth_getBlockByNumber', number, false)) ?? null
        }
        const logs = await askFork('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })
        return call.method === 'eth_getLogs' ? ownedBy(result, logs) : []
      }
    }
  }
  const lies: Lies = {
    counts: () => counts,
    total: () => Object.values(counts).reduce((sum, count) => sum + count, 0),
    isOn: true,
  }
  proxy.add({ fault: { kind: 'handle', handle } })
  return lies
}

/** Without one log, the others numbered as if it had never been. */
function omitted(list: readonly Entry[], random: Random): readonly Entry[] {
  const count = list.reduce((sum, entry) => sum + logsOf(entry).length, 0)
  if (count === 0) return list
  const missing = random.integer(0, count - 1)
  let [seen, index] = [-1, 0]
  const keep = (logs: readonly Entry[]): readonly Entry[] =>
    logs.flatMap(log => {
      seen++
      return seen === missing ? [] : [{ ...log, logIndex: `0x${(index++).toString(16)}` }]
    })
  return list.flatMap(entry => ('logs' in entry ? [{ ...entry, logs: keep(logsOf(entry)) }] : keep([entry])))
}

/** Only the beginning: of the list, or of the logs of its last entry. */
function truncated(list: readonly Entry[], random: Random): readonly Entry[] {
  const last = list.at(-1)
  if (last === undefined) return list
  if ('logs' in last && logsOf(last).length > 0 && random.uint32() % 2 === 0)
    return [...list.slice(0, -1), { ...last, logs: logsOf(last).slice(0, -1) }]
  return list.slice(0, random.integer(0, list.length - 1))
}

/** Something older, given out as belonging to the block that was asked for. */
function ownedBy(asked: unknown, old: unknown): unknown {
  if (!Array.isArray(asked) || !Array.isArray(old)) return old
  const owner = asked.find((entry): entry is Entry => typeof entry === 'object' && entry !== null)
  if (owner === undefined) return old
  const { blockHash, blockNumber } = owner
  const own = (entry: Entry): Entry =>
    'logs' in entry
      ? { ...entry, blockHash, blockNumber, logs: logsOf(entry).map(own) }
      : { ...entry, blockHash, blockNumber }
  return (old as readonly Entry[]).map(own)
}

const logsOf = (entry: Entry): readonly Entry[] =>
  'logs' in entry ? (entry['logs'] as readonly Entry[]) : [entry]
