/**
 * The tail of one chain's stream, by cursor: paused, it keeps its position; resumed, it replays what it missed; a
 * dropped connection resumes after the last record. A refused cursor is reported with its reason.
 */
import {
  type Client,
  type Envelope,
  RESET_REASONS,
  type StreamOutcome,
  UnauthenticatedError,
} from '@assay/sdk'

export type TailStatus = 'connecting' | 'replaying' | 'live' | 'paused' | 'reconnecting' | 'refused'

export type TailState = {
  readonly status: TailStatus
  readonly reason: string | null
  /** The last record received, after which a resume continues. */
  readonly sequence: number | null
  /** Records replayed since the last resume. */
  readonly replayed: number
  /** Newest first. */
  readonly records: readonly Envelope[]
}

/** Kept for display; the log itself belongs to the service. */
const KEPT = 500
/** A tail starts this many sequences behind the head, which all chains share, so that there is something to show. */
const BEGIN_BEHIND = 5000
/** Every epoch of the log begins at a multiple of this. */
const EPOCH = 2 ** 40
const AGAIN_MS = 1000
/** The head is that of all chains. A quiet chain has no record there, so its replay is over when none follows. */
const QUIET_MS = 1000

export class Tail {
  readonly #client: Client
  readonly #chainId: number
  readonly #onChange: (state: TailState) => void
  #state: TailState
  #records: Envelope[] = []
  #running: AbortController | null = null
  #frame: number | null = null

  /** `after` is the sequence to start after; null starts with the last records of the log. */
  constructor(client: Client, chainId: number, after: number | null, onChange: (state: TailState) => void) {
    this.#client = client
    this.#chainId = chainId
    this.#onChange = onChange
    this.#state = { status: 'connecting', reason: null, sequence: after, replayed: 0, records: [] }
    this.resume()
  }

  pause(): void {
    this.#running?.abort()
    this.#running = null
    this.#set({ status: 'paused', reason: null })
  }

  resume(): void {
    this.#running?.abort()
    this.#running = new AbortController()
    this.#set({ status: 'connecting', reason: null, replayed: 0 })
    void this.#run(this.#running.signal)
  }

  close(): void {
    this.#running?.abort()
    if (this.#frame !== null) cancelAnimationFrame(this.#frame)
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const reason = await this.#connect(signal)
        if (signal.aborted) return
        if (reason.isFinal) {
          this.#set({ status: 'refused', reason: reason.text })
          return
        }
        this.#set({ status: 'reconnecting', reason: reason.text })
      } catch (failure) {
        if (signal.aborted) return
        const isFinal = failure instanceof UnauthenticatedError
        const text = failure instanceof Error ? failure.message : String(failure)
        this.#set({ status: isFinal ? 'refused' : 'reconnecting', reason: text })
        if (isFinal) return
      }
      await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
    }
  }

  /** One connection from its cursor to its end. */
  async #connect(signal: AbortSignal): Promise<{ readonly isFinal: boolean; readonly text: string }> {
    const isResume = this.#state.sequence !== null
    const sequence = this.#state.sequence ?? (await this.#recent(signal))
    const session = await this.#client.createSession(
      { chain_id: this.#chainId, snapshot_sequence: sequence },
      { signal },
    )
    const head = session.stream.head_sequence
    const isBehind = sequence < head
    this.#set({ status: isBehind ? 'replaying' : 'live', reason: null })
    const stream = this.#client.stream({
      filter: { chain_ids: [this.#chainId] },
      resumeCursor: session.resume_cursor,
      signal,
    })
    const replayed = () => this.#set({ status: 'live' })
    let quiet = isBehind ? setTimeout(replayed, QUIET_MS) : undefined
    signal.addEventListener('abort', () => clearTimeout(quiet), { once: true })
    for await (const record of stream) {
      clearTimeout(quiet)
      if (signal.aborted) break
      this.#records = [record, ...this.#records.slice(0, KEPT - 1)]
      const isReplay = record.stream_sequence <= head
      this.#set({
        status: isReplay ? this.#state.status : 'live',
        sequence: record.stream_sequence,
        replayed: this.#state.replayed + (isReplay && isResume ? 1 : 0),
      })
      if (isReplay) quiet = setTimeout(replayed, QUIET_MS)
    }
    clearTimeout(quiet)
    return endOf(await stream.outcome)
  }

  /** The position of the last records of the log. */
  async #recent(signal: AbortSignal): Promise<number> {
    const { stream } = await this.#client.createSession({ chain_id: this.#chainId }, { signal })
    const { oldest_sequence: oldest, head_sequence: head } = stream
    // Never before the log's epoch: a position in another epoch is refused.
    return Math.max(head - (head % EPOCH), oldest - 1, head - BEGIN_BEHIND)
  }

  #set(change: Partial<TailState>): void {
    this.#state = { ...this.#state, ...change }
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null
      this.#onChange({ ...this.#state, records: this.#records })
    })
  }
}

function endOf(outcome: StreamOutcome): { readonly isFinal: boolean; readonly text: string } {
  switch (outcome.kind) {
    case 'RESET_REQUIRED': {
      const about = (RESET_REASONS as Readonly<Record<string, string>>)[outcome.reason] ?? ''
      return { isFinal: true, text: `${outcome.reason}: ${about}` }
    }
    case 'CLOSED':
      return { isFinal: !outcome.reconnect, text: `closed with ${outcome.code} ${outcome.reason}`.trimEnd() }
    case 'GIVEN_UP':
      return { isFinal: false, text: outcome.why.toLowerCase() }
    case 'ENDED':
      return { isFinal: false, text: 'ended' }
  }
}
