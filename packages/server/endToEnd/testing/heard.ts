/**
 * Everything a subscriber receives on one connection of the stream, in order, and how it ended. It uses the SDK's own
 * stream, so what a customer gets is what a test sees.
 */
import type { Client, Envelope, StreamOutcome, StreamRequest } from '@assay/sdk'
import { until } from './until.ts'

export class Heard {
  readonly records: Envelope[] = []
  /** Set when the connection is over. */
  outcome: StreamOutcome | null = null
  readonly #close: () => void
  readonly #running: Promise<void>

  /** `onRecord` runs as each record arrives, before the next. */
  constructor(
    client: Client,
    request: StreamRequest,
    onRecord: (record: Envelope) => void | Promise<void> = () => undefined,
  ) {
    const stream = client.stream(request)
    this.#close = stream.close
    const run = async () => {
      for await (const record of stream) {
        this.records.push(record)
        await onRecord(record)
      }
      this.outcome = await stream.outcome
    }
    this.#running = run()
  }

  get sequences(): number[] {
    return this.records.map(({ stream_sequence }) => stream_sequence)
  }

  async untilSequence(sequence: number): Promise<void> {
    await until(`sequence ${sequence} heard`, () => {
      if (this.outcome !== null) throw new Error(`the stream ended: ${JSON.stringify(this.outcome)}`)
      return (this.sequences.at(-1) ?? -1) >= sequence
    })
  }

  async untilOver(): Promise<StreamOutcome> {
    return until('the stream over', () => this.outcome)
  }

  async close(): Promise<void> {
    this.#close()
    await this.#running
  }
}

/** From the chain's very first record on: all of the log that is still kept. */
export async function cursorAfter(client: Client, chainId: number, sequence: number): Promise<string> {
  const { resume_cursor } = await client.createSession({ chain_id: chainId, snapshot_sequence: sequence })
  if (resume_cursor === null) throw new Error('a session for a chain without a cursor')
  return resume_cursor
}
