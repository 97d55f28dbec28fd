/**
 * The largest answer with a block, receipts or logs during the examination, compared with the configured limit.
 */
import { mayBeLarge } from '../feed/answers/answerReader.ts'
import { type Check, ok, warn } from './check.ts'

const [KIBIBYTE, MEBIBYTE] = [1024, 1024 * 1024]
/** Share of the limit that is too close to it: blocks differ in size by more than this, so a larger one will come. */
const NEAR_SHARE = 0.5

export class AnswerSizes {
  readonly #mostBytes: number
  #method = ''
  #bytes = 0

  constructor({ answerBytes }: { readonly answerBytes: number }) {
    this.#mostBytes = answerBytes
  }

  readonly note = (method: string, bytes: number): void => {
    if (!mayBeLarge(method) || bytes <= this.#bytes) return
    this.#method = method
    this.#bytes = bytes
  }

  check(): Check {
    const limit = `${sizeOf(this.#mostBytes)} (rpc.max_answer_mib)`
    if (this.#bytes > this.#mostBytes)
      return warn(
        'answers',
        `${this.#method} gave more than the limit of ${limit}`,
        'such receipts are read one by one, in many calls; raise rpc.max_answer_mib',
      )
    const value = `the largest had ${sizeOf(this.#bytes)} (${this.#method}); the limit is ${limit}`
    return this.#bytes > NEAR_SHARE * this.#mostBytes
      ? warn('answers', value, 'larger receipts are read one by one, in many calls; raise rpc.max_answer_mib')
      : ok('answers', value)
  }
}

const sizeOf = (bytes: number): string =>
  bytes < MEBIBYTE ? `${Math.ceil(bytes / KIBIBYTE)} KiB` : `${Math.round((bytes * 10) / MEBIBYTE) / 10} MiB`
