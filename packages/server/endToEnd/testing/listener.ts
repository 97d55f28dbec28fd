/** A follower of a chain as a customer runs it, and every record that was news to it from its first live moment on. */
import type { Client, Follower, FollowRequest } from '@assay/sdk'
import { CHAIN_ID } from './plan.ts'

/** It comes back at once, and never gives up. */
const EAGER = { baseMs: 2, maxMs: 40, maxFailures: 1_000_000 }

export type Listener = {
  readonly follower: Follower
  readonly sequences: number[]
  /** Snapshots taken, the first included. */
  resets: number
  /** Why connections were over. */
  readonly reasons: string[]
  failure: unknown
}

export function listen(client: Client, backoff: FollowRequest['backoff'] = EAGER): Listener {
  const follower = client.follow({ chain_id: CHAIN_ID, ...(backoff === undefined ? {} : { backoff }) })
  const heard: Listener = { follower, sequences: [], resets: 0, reasons: [], failure: null }
  const run = async () => {
    let isLive = false
    for await (const event of follower) {
      if (event.kind === 'status') {
        if (event.status === 'live') isLive = true
        if (event.status === 'resetting') heard.resets += 1
        if (event.reason !== null) heard.reasons.push(event.reason)
      } else if (isLive) heard.sequences.push(event.record.stream_sequence)
    }
  }
  run().catch((failure: unknown) => {
    heard.failure = failure
  })
  return heard
}

/** Two followers with the same records have the same state: current prices, and pools. */
export const foldOf = (follower: Follower, nowMs: number): string =>
  JSON.stringify({
    tokens: [...follower.tokens(nowMs)].sort((a, b) => (a.token_id < b.token_id ? -1 : 1)),
    pools: [...follower.pools()].map(each => each.pool_id).sort(),
  })
