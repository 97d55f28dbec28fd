/**
 * What an answer leaves out, and why. Vendors' formats have no field for a reason, so it goes into a header. Its length
 * is bounded, and the only client or token text in it is plain names.
 */
import type { FastifyReply } from 'fastify'

export const REASON_HEADER = 'x-assay-reason'
/** Well below the usual proxy limit for all headers of an answer together. */
const LONGEST = 2000
/** Names that cannot end a header or look like another entry. */
const PLAIN = /^[A-Za-z0-9_.:-]{1,90}$/

export class Absences {
  readonly #entries: string[] = []

  /** `name` is as the client wrote it; one that is not plain text is identified by its position in the list. */
  note(name: string, reason: string, at: number | null = null): void {
    const shown = PLAIN.test(name) ? name : at === null ? '?' : `#${at + 1}`
    this.#entries.push(`${shown}=${reason}`)
  }

  /** Null when nothing is left out. */
  text(): string | null {
    let text = ''
    for (const [at, entry] of this.#entries.entries()) {
      const rest = `, and ${this.#entries.length - at} more`
      const longer = text === '' ? entry : `${text}, ${entry}`
      if (longer.length + rest.length > LONGEST) return `${text}${rest}`
      text = longer
    }
    return text === '' ? null : text
  }

  tell(reply: FastifyReply): void {
    const text = this.text()
    if (text !== null) void reply.header(REASON_HEADER, text)
  }
}
