/**
 * GET /v1/export: a range of the log as a file, streamed at the client's pace. The headers state the exact records
 * before the first byte. The same range gives the same bytes, so an interrupted export resumes after its last row.
 */
import type { FastifyInstance } from 'fastify'
import { Readable } from 'node:stream'
import { bytesOf, type Format, FORMATS, MEDIA_TYPES } from '../../exports/files.ts'
import { CANDLE_COLUMNS, candleRows } from '../../exports/candleRows.ts'
import { type Interval, INTERVALS_MS, startOf } from '../../exports/candles.ts'
import { closedEnd, committedAt } from '../../exports/closedBucket.ts'
import { type Range, rowsOf } from '../../exports/range.ts'
import { type Column, EXPORT_KINDS, type ExportKind, type Row, TABLES } from '../../exports/table.ts'
import { epochOf, epochStart } from '../../store/epoch.ts'
import { Refusal, RequestError } from '../plumbing/apiError.ts'
import { charge, COMPUTING_UNITS } from '../plumbing/charge.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import { principalOf } from './session.ts'

type Needs = Pick<HttpContext, 'chains' | 'limit' | 'log' | 'metrics' | 'store'>

const MAX = Number.MAX_SAFE_INTEGER
/** Concurrent exports per consumer: each keeps the store busy while it is being read. */
const MOST = 2
const NAMES = [
  'kind',
  'format',
  'after_sequence',
  'to_sequence',
  'from_ms',
  'to_ms',
  'chain_id',
  'header',
  'interval',
  'closed',
] as const
const CANDLES = 'candles'
const INTERVALS = Object.keys(INTERVALS_MS) as Interval[]

export function registerExport(app: FastifyInstance, context: Needs): void {
  const running = new Map<string, number>()
  app.get('/v1/export', async (request, reply) => {
    const params = new Params(searchOf(request), NAMES, malformed)
    const kind = choice(params, 'kind', [...EXPORT_KINDS, CANDLES], null)
    const format = choice(params, 'format', FORMATS, 'csv')
    const hasHeader = choice(params, 'header', ['yes', 'no'], 'yes') === 'yes'
    const asked = await rangeIn(context, params)
    const { range, facts } = await closedIn(context, params, asked, kind)
    const { columns, pages, position } =
      kind === CANDLES ? await candlesIn(context, params, range) : recordsIn(context, params, kind, range)
    await charge(context, request, reply, COMPUTING_UNITS)
    const { consumer } = principalOf(request)
    const count = running.get(consumer) ?? 0
    if (count >= MOST) throw new Refusal(429, 1000)
    running.set(consumer, count + 1)
    const watched = context.metrics.exports.begun(format)
    const parts = bytesOf(format, pages, { columns, hasHeader, position })
    const file = Readable.from(counted(parts, watched.taken), { objectMode: false })
    file.once('error', failure =>
      context.log.warn('an export ended early', { request_id: request.id, error: failure.message }),
    )
    // Runs however the export ends: complete, interrupted or failed.
    file.once('close', () => {
      running.set(consumer, (running.get(consumer) ?? 1) - 1)
      watched.ended(file.readableEnded ? 'whole' : file.errored === null ? 'cut' : 'failed')
    })
    const said = Object.entries({ ...position, ...facts }).map(([name, value]) => [
      `assay-${name.replaceAll('_', '-')}`,
      value,
    ])
    return reply
      .headers({
        'content-type': MEDIA_TYPES[format],
        'content-disposition': `attachment; filename="${fileName(kind, format, range)}"`,
        ...(Object.fromEntries(said) as Record<string, string>),
      })
      .send(file)
  })
}

async function* counted(
  parts: AsyncIterable<Buffer>,
  taken: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const part of parts) {
    taken(part.length)
    yield part
  }
}

type Exported = {
  readonly columns: readonly Column[]
  readonly pages: AsyncIterable<readonly Row[]>
  /** Sent in the headers, and stored in the file itself if its format supports it. */
  readonly position: Readonly<Record<string, string>>
}

const positionOf = ({ after, through }: Range): Record<string, string> => ({
  epoch: String(epochOf(through)),
  after_sequence: String(after),
  to_sequence: String(through),
})

function recordsIn(
  context: Pick<HttpContext, 'store'>,
  params: Params,
  kind: ExportKind,
  range: Range,
): Exported {
  if (params.text('interval') !== null)
    throw new RequestError(400, `interval applies only to candles; kind is ${kind}`)
  const { columns } = TABLES[kind]
  return { columns, pages: rowsOf(context.store, TABLES[kind], range), position: positionOf(range) }
}

/** Whole buckets only: from the first that the log contains completely, to no further than the end of the log. */
async function candlesIn(
  context: Pick<HttpContext, 'store'>,
  params: Params,
  range: Range,
): Promise<Exported> {
  if (params.text('after_sequence') !== null)
    throw new RequestError(
      400,
      'after_sequence would split buckets; candles begin at from_ms and use the log up to to_sequence',
    )
  const interval = choice(params, 'interval', INTERVALS, '1h')
  const intervalMs = INTERVALS_MS[interval]
  const { store } = context
  const [oldest] = await store.readLog(range.after, 1, null)
  const [newest] = await store.readLog(range.through - 1, 1, null)
  const wholeMs =
    range.after === epochStart(0) ? 0 : startOf((oldest?.timeMs ?? 0) + intervalMs - 1, intervalMs)
  const untilMs = Math.min(range.toMs ?? MAX, newest?.timeMs ?? 0)
  const wanted = {
    after: range.after,
    through: range.through,
    chainId: range.chainId,
    intervalMs,
    fromMs: Math.max(wholeMs, startOf(range.fromMs ?? 0, intervalMs)),
    untilMs: startOf(untilMs, intervalMs),
  }
  return {
    columns: CANDLE_COLUMNS,
    pages: candleRows(store, wanted),
    position: {
      ...positionOf(range),
      interval,
      from_ms: String(wanted.fromMs),
      to_ms: String(Math.max(wanted.fromMs, wanted.untilMs)),
    },
  }
}

type Closed = { readonly range: Range; readonly facts: Readonly<Record<string, string>> }

/**
 * With `closed`, the range ends with the bucket that its first record is in, and is empty while that bucket is open.
 * The commit times of both ends tell a client whether its last file is of the same log. They are not in the file: its
 * bytes do not depend on what retention has deleted.
 */
async function closedIn(
  { store }: Pick<HttpContext, 'store'>,
  params: Params,
  range: Range,
  kind: string,
): Promise<Closed> {
  if (params.text('closed') === null) return { range, facts: {} }
  if (kind === CANDLES)
    throw new RequestError(400, 'closed does not apply to candles: they always cover whole buckets')
  const intervalMs = INTERVALS_MS[choice(params, 'closed', INTERVALS, null)]
  const { through, closesAtMs } = await closedEnd(store, range, intervalMs)
  return {
    range: { ...range, through },
    facts: {
      after_committed_ms: String(await committedAt(store, range.after)),
      to_committed_ms: String(await committedAt(store, through)),
      ...(closesAtMs === null ? {} : { closes_at_ms: String(closesAtMs) }),
    },
  }
}

const fileName = (kind: string, format: Format, { after, through }: Range): string =>
  `${kind}-${after + 1}-${through}.${format}`

/** Ends at the present end of the log. A start that is no longer retained is refused rather than moved. */
async function rangeIn(context: Pick<HttpContext, 'chains' | 'store'>, params: Params): Promise<Range> {
  const { oldest, head } = await context.store.readBounds()
  const after = params.integer('after_sequence', 0, MAX) ?? oldest - 1
  const wanted = params.integer('to_sequence', 0, MAX)
  const through = Math.min(wanted ?? head, head)
  if (after + 1 < oldest)
    throw new RequestError(
      400,
      `after_sequence is ${after}; the oldest retained record is ${oldest}, so expected ${oldest - 1} or more`,
    )
  if (after > through)
    throw new RequestError(
      400,
      `after_sequence is ${after}; expected at most ${through}, the end of the range`,
    )
  const chainId = params.integer('chain_id', 1, MAX)
  if (chainId !== null) servedChain(context, chainId)
  const [fromMs, toMs] = [params.integer('from_ms', 0, MAX), params.integer('to_ms', 1, MAX)]
  if (fromMs !== null && toMs !== null && fromMs >= toMs)
    throw new RequestError(400, `from_ms is ${fromMs}; expected it before to_ms, which is ${toMs}`)
  return { after, through, chainId, fromMs, toMs }
}

function choice<Choice extends string>(
  params: Params,
  name: string,
  choices: readonly Choice[],
  otherwise: Choice | null,
): Choice {
  const text = params.text(name) ?? otherwise
  const found = choices.find(each => each === text)
  if (found === undefined)
    throw new RequestError(
      400,
      `${name} is ${text === null ? 'missing' : JSON.stringify(text.slice(0, 40))}; expected one of ${choices.join(', ')}`,
    )
  return found
}
