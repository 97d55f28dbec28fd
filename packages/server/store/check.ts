/**
 * Checks the consistency of a store: the log has no gap, each envelope contains its own position, and the current state
 * is the fold of the log. The check may run while the store is being written to: it ignores everything newer than the
 * head at its start. In a pruned log it can only judge what is newer than the oldest record.
 */
import { fromId } from '@assay/sdk/wire'
import type { LogBounds, LogRecord, LogStore, PoolRow, Sequence, SnapshotStore, TokenRow } from './port.ts'
import { StoreError } from './storeError.ts'

export type StoreReader = LogStore &
  SnapshotStore & {
    /** Damage in the pages and texts of the database, by table and page; empty when its server checks them. */
    readIntegrity(): Promise<readonly string[]>
    /** The last sequence that was handed out; null when the store keeps no mark. */
    readMark(): Promise<Sequence | 'missing' | 'damaged' | null>
    close(): Promise<void>
  }

export type CheckReport = {
  readonly epoch: number
  readonly oldest: Sequence
  readonly head: Sequence
  readonly records: number
  readonly pools: number
  readonly tokens: number
  /** Empty when the store is consistent. */
  readonly faults: readonly string[]
}

const PAGE = 1_000
/** A broken database is broken in many places; these are enough to report. */
const MOST_FAULTS = 100
const FAULTS_IN_A_SENTENCE = 5

type Last = { readonly sequence: Sequence; readonly state: string | null }
type Fold = { readonly tokens: Map<string, Last>; readonly pools: Map<string, Last> }

export async function checkStore(store: StoreReader): Promise<CheckReport> {
  const faults: string[] = []
  const fault = (text: string) => {
    if (faults.length < MOST_FAULTS) faults.push(text)
  }
  for (const text of await store.readIntegrity()) fault(text)
  // The mark is read first: while the service commits, only the head can have moved since.
  const mark = await store.readMark()
  const { epoch, oldest, head } = await boundsOf(store, faults)
  const loss = mark === null ? null : markFault(mark, head)
  if (loss !== null) fault(loss)
  const counted = { records: 0, pools: 0, tokens: 0 }
  try {
    await compare(store, { oldest, head }, counted, fault)
  } catch (failure) {
    if (!isUnreadable(failure)) throw failure
    fault(
      `after ${counted.records} records, ${counted.pools} pools and ${counted.tokens} tokens the comparison of state and ` +
        'log ended at one that cannot be read',
    )
  }
  return { epoch, oldest, head, ...counted, faults }
}

/** The bounds of the log. Without them only the faults found so far can be reported. */
async function boundsOf(store: StoreReader, faults: readonly string[]): Promise<LogBounds> {
  try {
    return await store.readBounds()
  } catch (cause) {
    if (!isUnreadable(cause) || faults.length === 0) throw cause
    const message = `the log's bounds cannot be read: ${faults.slice(0, FAULTS_IN_A_SENTENCE).join('; ')}`
    throw new StoreError('STORE_CORRUPT', message, { cause })
  }
}

/** True for a damaged page, or a text that is no longer JSON; any other error is a failure of the check itself. */
const isUnreadable = (failure: unknown): boolean =>
  failure instanceof SyntaxError ||
  failure instanceof TypeError ||
  (failure instanceof StoreError && failure.code === 'STORE_CORRUPT')

/** Compares the log with itself, and the current state with the log. */
async function compare(
  store: StoreReader,
  { oldest, head }: Pick<CheckReport, 'oldest' | 'head'>,
  counted: { records: number; pools: number; tokens: number },
  fault: (text: string) => void,
): Promise<void> {
  const fold: Fold = { tokens: new Map(), pools: new Map() }
  const chains = new Set<number>()
  let next: Sequence | null = null
  for await (const record of recordsBetween(store, oldest - 1, head)) {
    counted.records++
    chains.add(record.chainId)
    // Retention may delete the oldest records during the read: only the first sequence may be higher than reported.
    if (next !== null && record.sequence !== next)
      fault(`the log jumps from ${next - 1} to ${record.sequence}`)
    next = record.sequence + 1
    foldRecord(fold, record, fault)
  }
  if (counted.records > 0 && next !== head + 1)
    fault(`the log ends at ${(next ?? 0) - 1}, but its head is ${head}`)

  const from = next === null ? head + 1 : next - counted.records
  const judge = judgeOf(from, head, fault)
  for await (const row of poolRows(store)) {
    counted.pools++
    judge(
      `pool ${row.chainId} ${row.poolAddress}`,
      row.sequence,
      row.state,
      take(fold.pools, row.chainId, row.poolAddress),
    )
  }
  for (const chainId of chains)
    for await (const row of tokenRows(store, chainId)) {
      counted.tokens++
      judge(
        `token ${chainId} ${row.tokenAddress}`,
        row.sequence,
        row.price,
        take(fold.tokens, chainId, row.tokenAddress),
      )
    }
  // Subjects in the log without a current state, unless they were removed since.
  if ((await store.readBounds()).head === head)
    for (const [kind, left] of Object.entries(fold))
      for (const [key, { sequence, state }] of left)
        if (state !== null) fault(`${kind} ${key}: the log has a state at ${sequence}, the snapshot has none`)
}

function markFault(mark: Sequence | 'missing' | 'damaged', head: Sequence): string | null {
  const next = 'the next start of the service begins a new epoch'
  if (typeof mark !== 'number') return `the mark of the database is ${mark}: ${next}`
  if (mark <= head) return null
  return `the log ends at ${head}, but sequences up to ${mark} were issued: records are lost, and ${next}`
}

/** Compares a current state with the last record about its subject, when both fall in the range that was read. */
const judgeOf =
  (from: Sequence, head: Sequence, fault: (text: string) => void) =>
  (what: string, sequence: Sequence | null, shown: string | null, said: Last | undefined): void => {
    if (sequence !== null && (sequence > head || (said === undefined && sequence < from))) return
    if (sequence !== (said?.sequence ?? null))
      fault(
        `${what}: the state is from ${sequence ?? 'none'}, the last record from ${said?.sequence ?? 'none'}`,
      )
    else if (shown !== (said?.state ?? null))
      fault(`${what}: the state differs from the record at ${sequence}`)
  }

function foldRecord({ tokens, pools }: Fold, record: LogRecord, fault: (text: string) => void): void {
  const { stream_sequence, routing, type, payload } = JSON.parse(record.envelope) as {
    stream_sequence?: Sequence
    routing: { chain_id?: number }
    type: string
    payload: Readonly<Record<string, unknown>>
  }
  if (stream_sequence !== record.sequence || routing.chain_id !== record.chainId)
    fault(
      `the record at ${record.sequence} claims sequence ${stream_sequence ?? 'none'} of chain ${routing.chain_id ?? 'none'}`,
    )
  if (type !== 'PRICE_UPSERT' && type !== 'PRICE_RETRACT') return
  const { scope, chain_id, token_id, pool_id, record_id: _, ...said } = payload
  const state = type === 'PRICE_RETRACT' ? (said['current'] as object | null) : said
  const address = fromId(String(scope === 'token' ? token_id : pool_id))
  const last = { sequence: record.sequence, state: state === null ? null : JSON.stringify(state) }
  ;(scope === 'token' ? tokens : pools).set(`${Number(chain_id)} ${address}`, last)
}

function take(said: Map<string, Last>, chainId: number, address: string): Last | undefined {
  const key = `${chainId} ${address}`
  const last = said.get(key)
  said.delete(key)
  return last
}

async function* recordsBetween(store: LogStore, after: Sequence, head: Sequence): AsyncGenerator<LogRecord> {
  for (let at = after; at < head; ) {
    const page = await store.readLog(at, PAGE, null)
    if (page.length === 0) return
    for (const record of page) if (record.sequence <= head) yield record
    at = page.at(-1)?.sequence ?? head
  }
}

async function* poolRows(store: SnapshotStore): AsyncGenerator<PoolRow> {
  for (let after: PoolRow | null = null; ; ) {
    const { pools }: { readonly pools: readonly PoolRow[] } = await store.readPools({
      chainId: null,
      tokenAddress: null,
      after,
      limit: PAGE,
    })
    yield* pools
    if (pools.length < PAGE) return
    after = pools.at(-1) ?? null
  }
}

async function* tokenRows(store: SnapshotStore, chainId: number): AsyncGenerator<TokenRow> {
  for (let after: string | null = null; ; ) {
    const tokens: readonly TokenRow[] = await store.readTokens({ chainId, after, limit: PAGE })
    yield* tokens
    if (tokens.length < PAGE) return
    after = tokens.at(-1)?.tokenAddress ?? null
  }
}
