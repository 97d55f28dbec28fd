/**
 * The frames that a server sends on a WebSocket, parsed no further than necessary: one process reads thousands of
 * sockets, and each only has to know which record it received.
 */

export type Frame = { readonly opcode: number; readonly bytes: Buffer }

const NOTHING = Buffer.alloc(0)
const TWO_BYTES = 126
const EIGHT_BYTES = 127

export class FrameReader {
  readonly #most: number
  readonly #onFrame: (frame: Frame) => void
  /** The beginning of an incomplete frame. */
  #kept = NOTHING
  /** Remaining bytes of a frame that are skipped. */
  #skipped = 0

  /** Passes on only the first `most` bytes of each frame. */
  constructor(most: number, onFrame: (frame: Frame) => void) {
    this.#most = most
    this.#onFrame = onFrame
  }

  /** The caller may reuse `chunk` afterwards. */
  take(chunk: Buffer): void {
    const bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk])
    let at = Math.min(this.#skipped, bytes.length)
    this.#skipped -= at
    while (at < bytes.length) {
      const { length, start } = headOf(bytes, at)
      const end = start + Math.min(length, this.#most)
      if (end > bytes.length) break
      this.#onFrame({ opcode: (bytes[at] as number) & 15, bytes: bytes.subarray(start, end) })
      at = Math.min(start + length, bytes.length)
      this.#skipped = start + length - at
    }
    this.#kept = at === bytes.length ? NOTHING : Buffer.from(bytes.subarray(at))
  }
}

/** RFC 6455 §5.2, never masked by a server. `start` is beyond the end when the head itself is incomplete. */
function headOf(bytes: Buffer, at: number): { readonly length: number; readonly start: number } {
  const short = (bytes[at + 1] ?? 0) & 127
  if (short < TWO_BYTES) return { length: short, start: at + 2 }
  const start = at + (short === EIGHT_BYTES ? 10 : 4)
  if (start > bytes.length) return { length: 0, start: bytes.length + 1 }
  return {
    length: short === EIGHT_BYTES ? Number(bytes.readBigUInt64BE(at + 2)) : bytes.readUInt16BE(at + 2),
    start,
  }
}
