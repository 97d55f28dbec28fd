/**
 * `assay export`: writes a range of the log to a file, or with `--folder` all of it to a folder of files. After an
 * interruption, the same command resumes after the last complete row or file.
 */
import { Argument, Command, Option } from 'commander'
import {
  closeSync,
  createWriteStream,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { extname } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT, Failure } from '../exit.ts'
import { type ExportAnswer, type Format, FORMATS, numberIn, requestExport } from '../files/request.ts'
import { type Every, EVERY_MS, exportToFolder } from '../files/sink.ts'
import { lastRow } from '../lastRow.ts'
import { moment, type ServiceChoice, whole, withService } from '../options.ts'
import { Progress } from '../terminal/progress.ts'
import { print } from '../terminal/print.ts'

const KINDS = ['prices', 'events', 'retractions', 'candles'] as const
const INTERVALS = ['1m', '5m', '1h', '1d'] as const

type Options = ServiceChoice & {
  readonly after?: number
  readonly to?: number
  readonly from?: number
  readonly until?: number
  readonly chain?: number
  readonly format?: Format
  readonly interval?: (typeof INTERVALS)[number]
  readonly folder?: string
  readonly every?: Every
  readonly follow?: boolean
}

/**
 * Stored next to the file: describes its content, so that the export can be resumed and another one can start where
 * it ends.
 */
type Position = {
  readonly kind: string
  readonly format: Format
  readonly filter: Readonly<Record<string, string>>
  readonly epoch: number
  readonly after_sequence: number
  readonly to_sequence: number
  /** For candles: buckets that start at or after this time and end by the other. */
  readonly from_ms?: number
  readonly to_ms?: number
  readonly is_complete: boolean
}

/** Written under a temporary name and moved at the end: its content does not show where it could be resumed. */
const isInOnePiece = (kind: string, format: Format): boolean => kind === 'candles' || format === 'parquet'

export const exportCommand = (): Command =>
  withService(new Command('export'))
    .description(
      'write a range of the log to a file, or all of it to a folder of files; resumes when run again after an interruption',
    )
    .addArgument(new Argument('<kind>', 'what to export').choices(KINDS))
    .argument('[file]', 'the file to write; its extension selects the format')
    .option('--after <sequence>', 'records above this sequence; by default all retained ones', whole)
    .option('--to <sequence>', 'records up to this sequence; by default the end of the log', whole)
    .option(
      '--from <time>',
      'only what was committed since: 2h or 7d ago, or a date; for candles, the earliest start',
      moment,
    )
    .option('--until <time>', 'only what was committed before; for candles, the latest end', moment)
    .option('--chain <id>', 'only this chain', whole)
    .addOption(new Option('--format <format>', 'instead of the file extension').choices(FORMATS))
    .addOption(new Option('--interval <length>', 'length of candles; by default 1h').choices(INTERVALS))
    .option('--folder <path>', 'instead of a file: one file for each closed hour, after those already there')
    .addOption(
      new Option('--every <length>', 'with --folder, the period of each file; by default 1h').choices(
        Object.keys(EVERY_MS),
      ),
    )
    .option('--follow', 'with --folder, wait for each next file until Ctrl-C')
    .action(exportLog)

async function exportLog(kind: string, file: string | undefined, options: Options): Promise<void> {
  const { folder, chain = null, format = 'parquet' } = options
  if (folder === undefined) return exportFile(kind, fileOf(file, options), options)
  assertForFolder(kind, file, options)
  return exportToFolder({ kind, chain, format }, { ...options, folder })
}

function fileOf(file: string | undefined, options: Options): string {
  const unsuited = (['every', 'follow'] as const).find(name => options[name] !== undefined)
  if (unsuited !== undefined)
    throw new Failure(`--${unsuited} applies only to a folder: add --folder, or omit it`, EXIT.misused)
  if (file !== undefined) return file
  throw new Failure('name the file to write, or a folder with --folder', EXIT.misused)
}

/** A folder is everything from its first record on: nothing else decides where its files begin and end. */
function assertForFolder(kind: string, file: string | undefined, options: Options): void {
  if (file !== undefined)
    throw new Failure(`the export goes to the file ${file} or to --folder: give one of them`, EXIT.misused)
  if (kind === 'candles')
    throw new Failure(
      'candles are not written to a folder, as a later reorganisation would correct them: export prices, or candles to a file',
      EXIT.misused,
    )
  const unsuited = (['to', 'from', 'until', 'interval'] as const).find(name => options[name] !== undefined)
  if (unsuited !== undefined)
    throw new Failure(
      `--${unsuited} applies only to a file: omit it, or name a file instead of --folder`,
      EXIT.misused,
    )
}

async function exportFile(kind: string, file: string, options: Options): Promise<void> {
  const format = formatOf(file, options)
  const filter = filterOf(options)
  const begun = begunAt(file, kind, format, filter)
  const query = new URLSearchParams({ kind, format, ...filter })
  const inOnePiece = isInOnePiece(kind, format)
  const resumed = begun === null || inOnePiece ? null : cutToRow(file, format)
  if (begun !== null) query.set('to_sequence', String(begun.to_sequence))
  else if (options.to !== undefined) query.set('to_sequence', String(options.to))
  const after = kind === 'candles' ? options.after : (resumed ?? begun?.after_sequence ?? options.after)
  if (after !== undefined) query.set('after_sequence', String(after))
  if (resumed !== null) query.set('header', 'no')
  const answer = await requestExport(options, query)
  const headOf = (name: string) => numberIn(answer, name)
  const position: Position = {
    kind,
    format,
    filter,
    epoch: headOf('epoch'),
    after_sequence: begun?.after_sequence ?? headOf('after-sequence'),
    to_sequence: headOf('to-sequence'),
    ...(kind === 'candles' && { from_ms: headOf('from-ms'), to_ms: headOf('to-ms') }),
    is_complete: false,
  }
  notePosition(file, position)
  const target = inOnePiece ? `${file}.part` : file
  await write(answer, target, resumed !== null, position)
  if (inOnePiece) renameSync(target, file)
  notePosition(file, { ...position, is_complete: true })
  const { size } = statSync(file)
  print(
    options,
    { ...position, is_complete: true, file, bytes: size },
    () => `${file}: ${rangeWords(position, size)}`,
  )
}

function rangeWords({ after_sequence, to_sequence, from_ms, to_ms }: Position, bytes: number): string {
  if (from_ms === undefined || to_ms === undefined)
    return `records ${after_sequence + 1} to ${to_sequence}, ${bytes} bytes. Continue with --after ${to_sequence}.`
  const [from, to] = [from_ms, to_ms].map(ms => new Date(ms).toISOString())
  return `candles from ${from} to ${to}, as of record ${to_sequence}, ${bytes} bytes. Continue with --from ${to_ms}.`
}

async function write(
  answer: ExportAnswer,
  target: string,
  isAppended: boolean,
  position: Position,
): Promise<void> {
  const bar = new Progress('Exporting')
  let bytes = 0
  let tail = ''
  const { after_sequence: after, to_sequence: to, kind, format } = position
  const counted = new Transform({
    transform(part: Buffer, _, done) {
      bytes += part.length
      // For records as text, the last row shows the progress.
      if (!isInOnePiece(kind, format)) tail = (tail + part.toString('latin1')).slice(-8192)
      const at = isInOnePiece(kind, format) ? null : lastRow(tail, format as 'csv' | 'ndjson')?.sequence
      const share = at == null ? 0 : (at - after) / Math.max(1, to - after)
      bar.show(share, `${(bytes / 2 ** 20).toFixed(1)} MiB${at == null ? '' : `, record ${at} of ${to}`}`)
      done(null, part)
    },
  })
  try {
    await pipeline(
      Readable.fromWeb(answer.body),
      counted,
      createWriteStream(target, { flags: isAppended ? 'a' : 'w' }),
    )
  } catch (failure) {
    throw new Failure(
      `the export was cut after ${bytes} bytes (${failure instanceof Error ? failure.message : String(failure)}); run the same command again to resume`,
    )
  } finally {
    bar.end()
  }
}

function formatOf(file: string, { format }: Options): Format {
  const ending = extname(file).slice(1)
  const found = format ?? FORMATS.find(each => each === ending)
  if (found === undefined)
    throw new Failure(
      `${file} has no known extension; expected .${FORMATS.join(', .')} or --format`,
      EXIT.misused,
    )
  return found
}

const filterOf = ({ from, until, chain }: Options): Record<string, string> => ({
  ...(from === undefined ? {} : { from_ms: String(from) }),
  ...(until === undefined ? {} : { to_ms: String(until) }),
  ...(chain === undefined ? {} : { chain_id: String(chain) }),
})

const positionFile = (file: string): string => `${file}.position.json`
const notePosition = (file: string, position: Position): void =>
  writeFileSync(positionFile(file), `${JSON.stringify(position, null, 1)}\n`)

/** The export that was started into this file; null for a new one. A file with other content is not touched. */
function begunAt(file: string, kind: string, format: Format, filter: object): Position | null {
  if (!existsSync(file) && !isInOnePiece(kind, format)) return null
  if (!existsSync(positionFile(file))) {
    if (!existsSync(file)) return null
    throw new Failure(`${file} exists and was not created by an export: choose another name`, EXIT.misused)
  }
  const position = JSON.parse(readFileSync(positionFile(file), 'utf8')) as Position
  const isSame =
    position.kind === kind &&
    position.format === format &&
    JSON.stringify(position.filter) === JSON.stringify(filter)
  if (position.is_complete || !isSame)
    throw new Failure(
      `${file} is ${position.is_complete ? 'a complete export' : 'another export'}, up to ${position.to_sequence}: choose another name, with ${position.to_ms === undefined ? `--after ${position.to_sequence}` : `--from ${position.to_ms}`} to continue`,
      EXIT.misused,
    )
  if (isInOnePiece(kind, format)) rmSync(`${file}.part`, { force: true })
  return position
}

/**
 * Removes an incomplete last row and returns the sequence of the last complete one; null if there is none and the
 * export starts over.
 */
function cutToRow(file: string, format: Format): number | null {
  const found = lastRow(readTail(file), format as 'csv' | 'ndjson')
  const { size } = statSync(file)
  if (found === null) return null
  truncateSync(file, size - found.behind)
  return found.sequence
}

/** Far longer than any row. */
const TAIL = 1024 * 1024

function readTail(file: string): string {
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const bytes = Buffer.alloc(Math.min(size, TAIL))
    readSync(handle, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString('latin1')
  } finally {
    closeSync(handle)
  }
}
