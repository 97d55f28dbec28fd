/**
 * The file a node keeps its state in. Anvil writes it in place, so one that was cut short is replaced by the copy
 * of the last good one; and what grows in it without end, old blocks and their transactions, is cut off.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Longer than a node takes to write its state. */
const WRITING_MS = 3000
const LOOK_MS = 50

type State = {
  readonly best_block_number: number
  readonly blocks: readonly { readonly header: { readonly number: string } }[]
  readonly transactions: readonly { readonly block_number: number | string }[]
}

export class StateFile {
  readonly path: string
  readonly #copy: string

  constructor(path: string) {
    this.path = path
    this.#copy = `${path}.good`
  }

  /** False when neither the file nor its copy is whole. A node of a killed world may still be writing it. */
  async recover(): Promise<boolean> {
    const untilMs = performance.now() + WRITING_MS
    while (existsSync(this.path) && !isWhole(this.path) && performance.now() < untilMs) await wait(LOOK_MS)
    if (isWhole(this.path)) return true
    if (!isWhole(this.#copy)) return false
    copy(this.#copy, this.path)
    return true
  }

  /** Remembers the file as it is; false if it is not whole. The copy itself is never seen half written. */
  keep(): boolean {
    if (!isWhole(this.path)) return false
    copy(this.path, `${this.#copy}.new`)
    if (!isWhole(`${this.#copy}.new`)) return false
    renameSync(`${this.#copy}.new`, this.#copy)
    return true
  }

  /** Drops blocks below the newest so many, but for the first, by which a chain is known. */
  trim(blocks: number): void {
    const state = JSON.parse(readFileSync(this.path, 'utf8')) as State
    const oldest = state.best_block_number - blocks
    const trimmed = {
      ...state,
      blocks: state.blocks.filter(({ header }) => {
        const number = Number(header.number)
        return number === 0 || number > oldest
      }),
      transactions: state.transactions.filter(each => Number(each.block_number) > oldest),
    }
    writeFileSync(`${this.path}.new`, JSON.stringify(trimmed))
    renameSync(`${this.path}.new`, this.path)
  }

  remove(): void {
    for (const file of [this.path, this.#copy]) rmSync(file, { force: true })
  }
}

/**
 * By hand: a node may write its state meanwhile, and libuv's own copy asks for ever for the rest of a file that has become
 * shorter.
 */
const copy = (from: string, to: string): void => writeFileSync(to, readFileSync(from))

/** What the state of our anvil ends with. A brace alone ends many an object inside it. */
const LAST_WORDS = '"historical_states":null}'

/** Whether the file is there to its end. */
function isWhole(file: string): boolean {
  if (!existsSync(file)) return false
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const end = Buffer.alloc(LAST_WORDS.length)
    if (size < end.length) return false
    readSync(handle, end, 0, end.length, size - end.length)
    return end.toString() === LAST_WORDS
  } finally {
    closeSync(handle)
  }
}
