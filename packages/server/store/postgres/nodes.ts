/** API nodes on a shared database: their heartbeats, their streams, and what their consumers spend. */
import type { Grant, NodeStore, SpendingStore } from '../cluster.ts'
import type { Sequence } from '../port.ts'
import { type Connection, statement } from './connection.ts'

/** A node that is silent for this long has no streams any more; after an hour its row is deleted. */
const LIVES = "beat_at > clock_timestamp() - interval '10 seconds'"

const GREET = statement(`
  INSERT INTO node (node, beat_at, replayed) VALUES ($1, clock_timestamp(), $2)
  ON CONFLICT (node) DO UPDATE SET beat_at = excluded.beat_at, replayed = excluded.replayed`)
const FORGET = statement(`
  WITH gone AS (
    DELETE FROM node WHERE node = $1 OR beat_at < clock_timestamp() - interval '1 hour' RETURNING node
  )
  DELETE FROM open_stream USING gone WHERE open_stream.node = gone.node`)
const REPLAYED = statement(`SELECT min(replayed) AS replayed FROM node WHERE ${LIVES}`)
// Counting a consumer's streams is serialised, so that none is missed.
const LOCK_STREAMS = statement(
  "SELECT pg_advisory_xact_lock(hashtextextended('assay streams of ' || $1::text, 0))",
)
const COUNT = statement(`
  SELECT coalesce(sum(streams), 0)::int AS streams FROM open_stream JOIN node USING (node)
  WHERE consumer = $1 AND ${LIVES}`)
const OPEN = statement(`
  INSERT INTO open_stream (node, consumer, streams) VALUES ($1, $2, 1)
  ON CONFLICT (node, consumer) DO UPDATE SET streams = open_stream.streams + 1`)
const SET_STREAMS = statement(`
  INSERT INTO open_stream (node, consumer, streams)
  SELECT $1, consumer, streams FROM unnest($2::text[], $3::int[]) AS now (consumer, streams)
  ON CONFLICT (node, consumer) DO UPDATE SET streams = excluded.streams`)
const CLEAR_STREAMS = statement('DELETE FROM open_stream WHERE node = $1 AND consumer <> ALL ($2::text[])')

const TAKE = statement(`
  SELECT granted, wait_ms AS "waitMs", rest
  FROM take_units($1, $2, $3, $4::double precision, $5::double precision)`)
const RETURN = statement('UPDATE spending SET earned_ms = earned_ms - $2 WHERE consumer = $1')

export function nodeStore(connection: Connection): NodeStore {
  return {
    async greet(node, replayed) {
      await connection.query(GREET, [node, replayed])
    },
    async leave(node) {
      await connection.query(FORGET, [node])
    },
    async readReplayed() {
      return (await connection.query<{ replayed: Sequence | null }>(REPLAYED))[0]?.replayed ?? null
    },
    openStream(node, consumer, most) {
      return connection.write(async query => {
        await query(LOCK_STREAMS, [consumer])
        const [open] = await query<{ streams: number }>(COUNT, [consumer])
        if ((open?.streams ?? 0) >= most) return false
        await query(OPEN, [node, consumer])
        return true
      })
    },
    async countStreams(node, streams) {
      const consumers = [...streams.keys()]
      await connection.query(SET_STREAMS, [node, consumers, [...streams.values()]])
      await connection.query(CLEAR_STREAMS, [node, consumers])
    },
  }
}

export function spendingStore(connection: Connection): SpendingStore {
  return {
    async takeUnits(consumer, need, want, { unitMs, burstMs }) {
      const [grant] = await connection.query<Grant>(TAKE, [consumer, need, want, unitMs, burstMs])
      return grant as Grant
    },
    async returnUnits(consumer, ms) {
      await connection.query(RETURN, [consumer, ms])
    },
  }
}
