/**
 * What processes that share one database need of it beside the port: who writes which chain, questions to that process,
 * who serves the API, and what consumers have spent over all of them.
 */
import type { Sequence } from './port.ts'

/** The right to write a chain, with the number of the turn; each turn ends all earlier ones. */
export type Seat = { readonly chainId: number; readonly generation: number }

/** A seat as everybody sees it: `owner` is '' while nobody has it, `beats` counts up while its owner lives. */
export type SeatView = Seat & { readonly beats: number; readonly owner: string }

export type SeatStore = {
  readSeats(): Promise<readonly SeatView[]>
  /** Null when somebody was faster, or the owner came back to life since it was `seen`. */
  takeSeat(chainId: number, seen: SeatView | null, owner: string): Promise<Seat | null>
  /** A sign of life; the seats that are still held. */
  beat(seats: readonly Seat[]): Promise<readonly Seat[]>
  leaveSeat(seat: Seat): Promise<void>
}

/** A question to whoever writes a chain; arguments and results are JSON text. */
export type Letter = {
  readonly id: number
  readonly chainId: number
  readonly method: string
  readonly args: string
}
export type Answer = {
  readonly id: number
  readonly result: string | null
  readonly failure: string | null
}

export type MailStore = {
  /** Its id; nobody begins with it once `patienceMs` are over. */
  post(letter: Omit<Letter, 'id'> & { readonly asker: string; readonly patienceMs: number }): Promise<number>
  /** Letters to the holder of these seats, each once a turn. */
  collect(seats: readonly Seat[], most: number): Promise<readonly Letter[]>
  answer(answer: Answer): Promise<void>
  /** Answers to what was asked, each once. */
  receive(asker: string): Promise<readonly Answer[]>
  /** Throws away what nobody waits for any more. */
  discard(): Promise<void>
}

/** Units granted from the quota that all nodes share; of none, how long until there are enough. */
export type Grant = { readonly granted: number; readonly waitMs: number; readonly rest: number }

export type SpendingStore = {
  takeUnits(
    consumer: string,
    need: number,
    want: number,
    quota: { readonly unitMs: number; readonly burstMs: number },
  ): Promise<Grant>
  /** What was granted and not spent. */
  returnUnits(consumer: string, ms: number): Promise<void>
}

export type NodeStore = {
  /** A sign of life of an API node, and how far its slowest replay has read. */
  greet(node: string, replayed: Sequence | null): Promise<void>
  leave(node: string): Promise<void>
  /** Of all living nodes. */
  readReplayed(): Promise<Sequence | null>
  /** Counts a stream in; false when the consumer has `most` on all nodes together. */
  openStream(node: string, consumer: string, most: number): Promise<boolean>
  /** How many streams each consumer has on this node. */
  countStreams(node: string, streams: ReadonlyMap<string, number>): Promise<void>
}

export type ClusterStore = SeatStore & MailStore & SpendingStore & NodeStore & { close(): Promise<void> }
