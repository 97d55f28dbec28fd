/**
 * What processes on a shared database need beside the port: which process writes which chain, remote calls to that
 * process, which processes serve the API, and how much of its quota each consumer has used across all of them.
 */
import type { Sequence } from './port.ts'

/** The right to write a chain. A lease of a higher generation ends all earlier ones. */
export type Lease = { readonly chainId: number; readonly generation: number }

/** A lease as every process sees it: `owner` is '' while the lease is free, `beats` counts up while its owner lives. */
export type LeaseView = Lease & { readonly beats: number; readonly owner: string }

export type LeaseStore = {
  readLeases(): Promise<readonly LeaseView[]>
  /** Null when another process was faster, or the owner has renewed the lease since it was `seen`. */
  takeLease(chainId: number, seen: LeaseView | null, owner: string): Promise<Lease | null>
  /** Renews the leases; returns those that are still held. */
  beat(leases: readonly Lease[]): Promise<readonly Lease[]>
  leaveLease(lease: Lease): Promise<void>
}

/** A call to the process that writes a chain; arguments and results are JSON text. */
export type RpcRequest = {
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

export type RpcStore = {
  /** Returns the id of the request. No process starts on it after `patienceMs`. */
  post(
    request: Omit<RpcRequest, 'id'> & { readonly asker: string; readonly patienceMs: number },
  ): Promise<number>
  /** Requests to the holder of these leases, each once per generation. */
  collect(leases: readonly Lease[], most: number): Promise<readonly RpcRequest[]>
  answer(answer: Answer): Promise<void>
  /** Answers to the requests of `asker`, each once. */
  receive(asker: string): Promise<readonly Answer[]>
  /** Deletes requests and answers that no caller waits for any more. */
  discard(): Promise<void>
}

/** Units granted from the quota that all nodes share; if none were granted, how long until enough are free. */
export type Grant = { readonly granted: number; readonly waitMs: number; readonly rest: number }

export type SpendingStore = {
  takeUnits(
    consumer: string,
    need: number,
    want: number,
    quota: { readonly unitMs: number; readonly burstMs: number },
  ): Promise<Grant>
  /** Returns units that were granted but not spent. */
  returnUnits(consumer: string, ms: number): Promise<void>
}

export type NodeStore = {
  /** The heartbeat of an API node, with the position of its slowest replay. */
  greet(node: string, replayed: Sequence | null): Promise<void>
  leave(node: string): Promise<void>
  /** The lowest position over all living nodes. */
  readReplayed(): Promise<Sequence | null>
  /** Registers a stream; false when the consumer already has `most` on all nodes together. */
  openStream(node: string, consumer: string, most: number): Promise<boolean>
  /** Reports the number of streams of each consumer on this node. */
  countStreams(node: string, streams: ReadonlyMap<string, number>): Promise<void>
}

export type ClusterStore = LeaseStore & RpcStore & SpendingStore & NodeStore & { close(): Promise<void> }
