/**
 * The file in which a node keeps its state. Anvil writes it in place, so an interrupted write is replaced by the copy
 * of the last good one. Old blocks and their transactions, which grow without limit, are cut off.
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

  /** False when neither the file nor its copy is complete. A node of a killed world may still be writing it. */
  async recover(): Promise<boolean> {
    const untilMs = performance.now() + WRITING_MS
    while (existsSync(this.path) && !isWhole(this.path) && performance.now() < untilMs) await wait(LOOK_MS)
    if (isWhole(this.path)) return true
    if (!isWhole(this.#copy)) return false
    copy(this.#copy, this.path)
    return true
  }

  /** Copies the file in its present form; false if it is incomplete. The copy itself is never visible half written. */
  keep(): boolean {
    if (!isWhole(this.path)) return false
    copy(this.path, `${this.#copy}.new`)
    if (!isWhole(`${this.#copy}.new`)) return false
    renameSync(`${this.#copy}.new`, this.#copy)
    return true
  }

  /** Drops all but the newest `blocks` blocks, except the first, which identifies a chain. */
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
 * By hand: a node may write its state meanwhile, and libuv's own copy waits forever for the rest of a file that has
 * become shorter.
 */
const copy = (from: string, to: string): void => writeFileSync(to, readFileSync(from))

/** The end of a state written by our anvil. A brace alone also ends many inner objects. */
const LAST_WORDS = '"historical_states":null}'

/** Whether the file is complete to its end. */
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
