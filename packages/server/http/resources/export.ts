/**
 * GET /v1/export: a range of the log as a file, streamed as fast as it is taken. The headers say which records it is of
 * before the first byte; the same range is the same bytes, so what was cut goes on after its last row.
 */
import type { FastifyInstance } from 'fastify'
import { Readable } from 'node:stream'
import { bytesOf, type Format, FORMATS, MEDIA_TYPES } from '../../exports/files.ts'
import { type Range, rowsOf } from '../../exports/range.ts'
import { EXPORT_KINDS, type ExportKind, TABLES } from '../../exports/table.ts'
import { epochOf } from '../../store/epoch.ts'
import { Refusal, RequestError } from '../plumbing/apiError.ts'
import { charge, COMPUTING_UNITS } from '../plumbing/charge.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import { principalOf } from './session.ts'

const MAX = Number.MAX_SAFE_INTEGER
/** Of a consumer, at once: each keeps the store busy for as long as it is taken. */
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
] as const

export function registerExport(app: FastifyInstance, context: HttpContext): void {
  const running = new Map<string, number>()
  app.get('/v1/export', async (request, reply) => {
    const params = new Params(searchOf(request), NAMES, malformed)
    const kind = choice(params, 'kind', EXPORT_KINDS, null)
    const format = choice(params, 'format', FORMATS, 'csv')
    const hasHeader = choice(params, 'header', ['yes', 'no'], 'yes') === 'yes'
    const range = await rangeIn(context, params)
    await charge(context, request, reply, COMPUTING_UNITS)
    const { consumer } = principalOf(request)
    const count = running.get(consumer) ?? 0
    if (count >= MOST) throw new Refusal(429, 1000)
    running.set(consumer, count + 1)
    const position = {
      epoch: String(epochOf(range.through)),
      after_sequence: String(range.after),
      to_sequence: String(range.through),
    }
    const { columns } = TABLES[kind]
    const pages = rowsOf(context.store, TABLES[kind], range)
    const file = Readable.from(bytesOf(format, pages, { columns, hasHeader, position }), {
      objectMode: false,
    })
    file.once('error', failure =>
      context.log.warn('an export ended early', { request_id: request.id, error: failure.message }),
    )
    // However it ends: read to its end, cut, or failed.
    file.once('close', () => running.set(consumer, (running.get(consumer) ?? 1) - 1))
    return reply
      .headers({
        'content-type': MEDIA_TYPES[format],
        'content-disposition': `attachment; filename="${fileName(kind, format, range)}"`,
        'assay-epoch': position.epoch,
        'assay-after-sequence': position.after_sequence,
        'assay-to-sequence': position.to_sequence,
      })
      .send(file)
  })
}

const fileName = (kind: ExportKind, format: Format, { after, through }: Range): string =>
  `${kind}-${after + 1}-${through}.${format}`

/** Ends at the log's end of now; a beginning that is no longer kept is refused, and not moved. */
async function rangeIn(context: HttpContext, params: Params): Promise<Range> {
  const { oldest, head } = await context.store.readBounds()
  const after = params.integer('after_sequence', 0, MAX) ?? oldest - 1
  const wanted = params.integer('to_sequence', 0, MAX)
  const through = Math.min(wanted ?? head, head)
  if (after + 1 < oldest)
    throw new RequestError(
      400,
      `after_sequence is ${after}; the oldest record kept is ${oldest}, so expected ${oldest - 1} or more`,
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
