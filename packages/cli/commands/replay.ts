/**
 * `assay replay`: the records of a chain from the log, starting at any that is still kept, in order and without a
 * gap. It resumes after a dropped connection, and with `--position` also after it was stopped itself.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import type { Client, Envelope, StreamOutcome } from '@assay/sdk'
import { fromId } from '@assay/sdk/wire'
import { Command, InvalidArgumentError, Option } from 'commander'
import { EXIT, Failure } from '../exit.ts'
import { clientOf, type ServiceChoice, whole, withService } from '../options.ts'
import { harmless } from '../terminal/harmless.ts'
import { paint } from '../terminal/paint.ts'
import { Progress } from '../terminal/progress.ts'
import { price, time } from '../terminal/words.ts'

const TYPES = ['FEED_HEALTH', 'PRICE_RETRACT', 'PRICE_UPSERT', 'SWAP_OBSERVED'] as const
type Type = (typeof TYPES)[number]

type Options = ServiceChoice & {
  readonly after?: number
  readonly cursor?: string
  readonly to?: number
  readonly types?: readonly Type[]
  readonly position?: string
  readonly follow?: boolean
}

const types = (text: string): Type[] =>
  text.split(',').map(each => {
    const type = TYPES.find(known => known === each.trim().toUpperCase())
    if (type === undefined) throw new InvalidArgumentError(`Expected some of ${TYPES.join(', ')}.`)
    return type
  })

export const replayCommand = (): Command =>
  withService(new Command('replay'))
    .description('print the records of a chain from the log, in order, up to now or to --to')
    .argument('<chain>', 'chain id', whole)
    .option('--after <sequence>', 'begin after this record; by default with the oldest one', whole)
    .addOption(new Option('--cursor <cursor>', 'begin at a cursor of /v1/session').conflicts('after'))
    .option('--to <sequence>', 'end with this record; by default with the newest at the start', whole)
    .option('--types <types>', 'only records of these types, separated by commas', types)
    .option('--position <file>', 'save the position in this file, and resume from it next time')
    .option('-f, --follow', 'do not stop: continue with new records')
    .action(replay)

/** How often the position is saved: after a kill some records are repeated, none is missed. */
const POSITION_MS = 1000
/** Consecutive connections without a record. */
const MAX_FAILURES = 5
const PAUSE_MS = 1000

async function replay(chain: number, options: Options): Promise<void> {
  const client = clientOf(options)
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const { stream } = await client.createSession({ chain_id: chain }, { signal: stopping.signal })
  const place = new Place(options, stream.oldest_sequence - 1)
  const first = place.after
  if (first > stream.head_sequence)
    throw new Failure(
      `the newest record is ${stream.head_sequence}; there are none after ${first}`,
      EXIT.absent,
    )
  const end = options.follow === true ? null : (options.to ?? stream.head_sequence)
  const bar = new Progress('Replaying')
  const print = options.json === true ? jsonLine : tableLine
  let cursor = options.cursor ?? null
  let failures = 0
  try {
    while (!stopping.signal.aborted && (end === null || place.after < end)) {
      cursor ??= await cursorAfter(client, chain, place.after, stopping.signal)
      const records = client.stream({
        filter: { chain_ids: [chain] },
        resumeCursor: cursor,
        signal: stopping.signal,
        silenceMs: 60_000,
      })
      cursor = null
      for await (const record of records) {
        failures = 0
        if (end !== null && record.stream_sequence > end) {
          place.moveTo(end)
          break
        }
        if (options.types === undefined || options.types.some(type => type === record.type)) {
          // A full pipe stalls the stream, which resumes if it was dropped because of that.
          if (!process.stdout.write(`${print(record)}\n`)) await once(process.stdout, 'drain')
        }
        place.moveTo(record.stream_sequence)
        if (end !== null && !process.stdout.isTTY)
          bar.show((place.after - first) / Math.max(1, end - first), `sequence ${place.after} of ${end}`)
        if (end !== null && place.after >= end) break
      }
      failures += 1
      await judge(await records.outcome, stream.oldest_sequence, failures)
    }
  } finally {
    bar.end()
    place.keep()
  }
  if (process.stderr.isTTY)
    process.stderr.write(
      `${paint('dim', `up to sequence ${place.after}; continue with --after ${place.after}`)}\n`,
    )
}

async function cursorAfter(
  client: Client,
  chain: number,
  sequence: number,
  signal: AbortSignal,
): Promise<string> {
  const { resume_cursor } = await client.createSession(
    { chain_id: chain, snapshot_sequence: sequence },
    { signal },
  )
  if (resume_cursor === null) throw new Failure('the service returned no cursor')
  return resume_cursor
}

/** Throws errors that another connection cannot fix. */
async function judge(outcome: StreamOutcome, oldest: number, failures: number): Promise<void> {
  if (outcome.kind === 'ENDED') return
  if (outcome.kind === 'RESET_REQUIRED')
    throw new Failure(
      outcome.reason === 'REPLAY_UNAVAILABLE'
        ? `these records are no longer retained; use --after ${oldest - 1} to begin with the oldest`
        : `the log cannot be resumed there: ${outcome.reason}; start again with --after ${oldest - 1}`,
      EXIT.absent,
    )
  const isFinal = outcome.kind === 'CLOSED' && !outcome.reconnect
  if (isFinal || failures > MAX_FAILURES)
    throw new Failure(
      `the stream ended: ${outcome.kind === 'CLOSED' ? `${outcome.code} ${outcome.reason}` : outcome.why}`,
      EXIT.refused,
    )
  const waitMs = outcome.kind === 'CLOSED' ? (outcome.retryAfterMs ?? PAUSE_MS) : PAUSE_MS
  await new Promise(resolve => setTimeout(resolve, waitMs))
}

/** The position of the replay, in a file if one is given. The file is replaced atomically. */
class Place {
  readonly #file: string | null
  #after: number
  #keptAt = performance.now()

  constructor({ position, after }: Options, oldest: number) {
    this.#file = position ?? null
    const kept = after === undefined && position !== undefined && existsSync(position)
    const text = kept ? readFileSync(position, 'utf8').trim() : null
    if (text !== null && !/^\d{1,16}$/.test(text))
      throw new Failure(`${position} holds no position: remove it, or name another file`, EXIT.misused)
    this.#after = text === null ? (after ?? oldest) : Number(text)
  }

  get after(): number {
    return this.#after
  }

  moveTo(sequence: number): void {
    this.#after = sequence
    if (performance.now() - this.#keptAt < POSITION_MS) return
    this.#keptAt = performance.now()
    this.keep()
  }

  keep(): void {
    if (this.#file === null) return
    writeFileSync(`${this.#file}.new`, `${this.#after}\n`)
    renameSync(`${this.#file}.new`, this.#file)
  }
}

const jsonLine = (record: Envelope): string => JSON.stringify(record)

const tableLine = (record: Envelope): string =>
  harmless(
    `${String(record.stream_sequence).padStart(9)}  ${timeOf(record)}  ${record.type.padEnd(13)}  ${aboutOf(record)}`,
  )

function timeOf({ type, payload }: Envelope): string {
  if (type === 'FEED_HEALTH') return time(payload.updated_at_ms)
  if (type === 'SWAP_OBSERVED') return time(payload.block_time_ms)
  const state = type === 'PRICE_RETRACT' ? payload.current : payload
  if (state === null) return ' '.repeat(19)
  return time('evaluated_at_ms' in state ? state.evaluated_at_ms : state.block_time_ms)
}

function aboutOf({ type, payload }: Envelope): string {
  if (type === 'FEED_HEALTH') return [payload.status, ...payload.reasons].join(' ')
  if (type === 'SWAP_OBSERVED') return `pool ${fromId(payload.pool_id)}  ${payload.finality}`
  const about =
    payload.scope === 'token' ? `token ${fromId(payload.token_id)}` : `pool ${fromId(payload.pool_id)}`
  if (type === 'PRICE_RETRACT')
    return `${about}  ${paint('red', payload.reason)}, withdraws ${payload.retracted.stream_sequence ?? payload.retracted.record_id}`
  if (payload.scope === 'pool') return `${about}  score ${payload.score}`
  return payload.state === 'PRICED'
    ? `${about}  ${price(payload.price_usd)}  score ${payload.confidence.score}`
    : `${about}  unpriced: ${payload.reason}`
}
