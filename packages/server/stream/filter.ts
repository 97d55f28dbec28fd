/**
 * The one frame a client sends, and which records it selects. Lists must be strictly ascending: any other list is a
 * client's mistake, which is better reported than guessed at.
 */
import { MAX_FILTER_IDS, RECORD_TYPES } from '@assay/sdk/wire'
import type { LogRecord } from '../store/port.ts'

export type Subscription = {
  readonly chainIds: readonly number[]
  readonly poolIds: ReadonlySet<string>
  readonly tokenIds: ReadonlySet<string>
  readonly types: ReadonlySet<string>
  readonly resumeCursor: string | null
  /** Equal for equal filters. */
  readonly key: string
}

export type SubscribeFault = { readonly fault: string }

const ID = /^0x[0-9a-f]{64}$/
const TYPES: readonly string[] = RECORD_TYPES

/** `served` contains the chains of this service. */
export function parseSubscribe(text: string, served: ReadonlySet<number>): Subscription | SubscribeFault {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return { fault: 'the subscribe frame is not JSON' }
  }
  if (!isRecord(frame)) return { fault: 'the subscribe frame is not an object' }
  const unknown = Object.keys(frame).find(key => key !== 'filter' && key !== 'resume_cursor')
  if (unknown !== undefined) return { fault: `unknown field ${show(unknown)}` }
  const { filter, resume_cursor: resumeCursor = null } = frame
  if (resumeCursor !== null && typeof resumeCursor !== 'string')
    return { fault: 'resume_cursor is neither a string nor null' }
  if (!isRecord(filter)) return { fault: 'filter is missing' }
  const stray = Object.keys(filter).find(
    key => !['chain_ids', 'pool_ids', 'token_ids', 'types'].includes(key),
  )
  if (stray !== undefined) return { fault: `unknown field filter.${show(stray)}` }
  const { chain_ids: chainIds, pool_ids: poolIds = [], token_ids: tokenIds = [], types = [] } = filter
  const fault =
    faultIn('chain_ids', chainIds, each =>
      Number.isSafeInteger(each) && served.has(each as number) ? null : 'is not a served chain',
    ) ??
    faultIn('pool_ids', poolIds, idFault) ??
    faultIn('token_ids', tokenIds, idFault) ??
    faultIn('types', types, each =>
      TYPES.includes(each as string) ? null : `is not one of ${TYPES.join(', ')}`,
    )
  if (fault !== null) return { fault }
  if ((chainIds as unknown[]).length === 0) return { fault: 'filter.chain_ids is empty' }
  return {
    chainIds: chainIds as number[],
    poolIds: new Set(poolIds as string[]),
    tokenIds: new Set(tokenIds as string[]),
    types: new Set(types as string[]),
    resumeCursor,
    key: JSON.stringify([chainIds, poolIds, tokenIds, types]),
  }
}

/** An empty id list is no constraint; records with both routing lists empty pass every filter. */
export function isWanted({ chainIds, poolIds, tokenIds, types }: Subscription, record: LogRecord): boolean {
  if (!chainIds.includes(record.chainId)) return false
  if (types.size > 0 && !types.has(record.type)) return false
  if (record.poolIds.length === 0 && record.tokenIds.length === 0) return true
  return (
    (poolIds.size === 0 || record.poolIds.some(id => poolIds.has(id))) &&
    (tokenIds.size === 0 || record.tokenIds.some(id => tokenIds.has(id)))
  )
}

function faultIn(name: string, list: unknown, check: (each: unknown) => string | null): string | null {
  if (!Array.isArray(list)) return `filter.${name} is not a list`
  if (list.length > MAX_FILTER_IDS) return `filter.${name} has more than ${MAX_FILTER_IDS} entries`
  for (const [at, each] of list.entries()) {
    const fault = check(each)
    if (fault !== null) return `filter.${name}[${at}] ${fault}`
    if (at > 0 && !(list[at - 1] < each)) return `filter.${name} is not strictly ascending at ${at}`
  }
  return null
}

const idFault = (each: unknown): string | null =>
  typeof each === 'string' && ID.test(each) ? null : 'is not 0x and 64 lower-case hex digits'
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const show = (text: string): string => JSON.stringify(text.slice(0, 40))
