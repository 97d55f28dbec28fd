/**
 * A folder of export files that follow one another in the log. The name of a file says which records it covers and a
 * file gets its name only when it is complete and on disk, so the last name is the position of the export.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { extname, join } from 'node:path'
import { EXIT, Failure } from '../exit.ts'
import { type Format, FORMATS } from './request.ts'

export type Content = {
  readonly kind: string
  readonly chain: number | null
  readonly format: Format
}

/** The records from `first` to `last`, of which the file has those of its content. */
export type Piece = { readonly first: number; readonly last: number }

/** When the last record of a piece was committed: tells its log from another one. */
type End = { readonly sequence: number; readonly committed_at_ms: number }

const POSITION = 'position.json'
const PART = '.part'
/** Enough for every sequence, so that names sort as numbers do. */
const DIGITS = 16
const NAME = /^([a-z]+)(?:-chain(\d{1,15}))?-(\d{16})-(\d{16})\.(csv|ndjson|parquet)$/

export class ExportFolder {
  readonly path: string
  readonly #content: Content
  #ends: readonly End[]

  private constructor(path: string, content: Content) {
    this.path = path
    this.#content = content
    this.#ends = endsIn(join(path, POSITION))
  }

  /** Removes what a killed export has left incomplete. A folder with other files is not touched. */
  static open(path: string, content: Content): ExportFolder {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new Failure(`${path} is a file: name a folder with --folder`, EXIT.misused)
    mkdirSync(path, { recursive: true })
    const folder = new ExportFolder(path, content)
    folder.read()
    for (const name of readdirSync(path))
      if (name.endsWith(PART) && (name === `${POSITION}${PART}` || NAME.test(name.slice(0, -PART.length))))
        rmSync(join(path, name), { force: true })
    return folder
  }

  /** The first and the last record that its files cover; null without files. */
  read(): Piece | null {
    const pieces = readdirSync(this.path).flatMap(name => this.#pieceOf(name) ?? [])
    pieces.sort((a, b) => a.first - b.first)
    for (const [at, { first }] of pieces.entries()) {
      const before = pieces[at - 1]
      if (before !== undefined && first !== before.last + 1)
        throw new Failure(
          `${this.path}: ${this.nameOf(before)} ends at record ${before.last} and the next file begins at ${first}. Put the missing file back, remove the files after the gap, or export into a new folder`,
          EXIT.misused,
        )
    }
    const [first, last] = [pieces[0], pieces.at(-1)]
    return first === undefined || last === undefined ? null : { first: first.first, last: last.last }
  }

  /** When the record that a file ends with was committed; null if that was not noted. */
  committedMs(sequence: number): number | null {
    return this.#ends.find(end => end.sequence === sequence)?.committed_at_ms ?? null
  }

  nameOf({ first, last }: Piece): string {
    const { kind, chain, format } = this.#content
    const [from, to] = [first, last].map(sequence => String(sequence).padStart(DIGITS, '0'))
    return `${kind}${chain === null ? '' : `-chain${chain}`}-${from}-${to}.${format}`
  }

  /** Where a piece is written until it is complete. */
  partOf(piece: Piece): string {
    return join(this.path, `${this.nameOf(piece)}${PART}`)
  }

  /** Gives a complete piece its name. The commit time comes first: without its file, an entry has no effect. */
  accept(piece: Piece, committedAtMs: number): void {
    const before = this.read()
    if (before !== null && before.last !== piece.first - 1)
      throw new Failure(
        `${this.path} has changed meanwhile: it ends at record ${before.last}, and ${piece.first - 1} was expected. Run one export at a time in a folder`,
      )
    this.#ends = [...this.#ends.slice(-1), { sequence: piece.last, committed_at_ms: committedAtMs }]
    const { kind, chain, format } = this.#content
    const position = { kind, chain_id: chain, format, ends: this.#ends }
    const target = join(this.path, POSITION)
    writeFileSync(`${target}${PART}`, `${JSON.stringify(position, null, 1)}\n`, { flush: true })
    renameSync(`${target}${PART}`, target)
    renameSync(this.partOf(piece), join(this.path, this.nameOf(piece)))
    syncFolder(this.path)
  }

  /** Null for a file that is not of an export. */
  #pieceOf(name: string): Piece | null {
    if (!FORMATS.some(format => extname(name) === `.${format}`)) return null
    const [, kind, chain, first, last, format] = NAME.exec(name) ?? []
    const isSame =
      kind === this.#content.kind &&
      (chain === undefined ? null : Number(chain)) === this.#content.chain &&
      format === this.#content.format
    if (isSame) return { first: Number(first), last: Number(last) }
    throw new Failure(
      `${this.path} has ${name}, which is not of this export (expected ${this.nameOf({ first: 1, last: 2 })} and the like): choose another folder`,
      EXIT.misused,
    )
  }
}

function endsIn(file: string): readonly End[] {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return []
  try {
    const { ends } = JSON.parse(readFileSync(file, 'utf8')) as { readonly ends: readonly End[] }
    if (Array.isArray(ends)) return ends
  } catch (failure) {
    if (!(failure instanceof SyntaxError)) throw failure
  }
  throw new Failure(
    `${file} is not from an export: choose another folder, or remove the file if it is damaged, to continue after the last one`,
    EXIT.misused,
  )
}

/** A name is durable only with its folder. */
function syncFolder(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
