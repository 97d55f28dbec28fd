/**
 * One writer per chain among processes that share the database. A holder renews its lease by counting up `beats`. A
 * process that has seen the same count for too long, by its own clock, takes the lease with the next generation, under
 * the lock that commits of the chain take.
 *
 * So a commit either comes first, and the successor starts from it, or it finds another generation and is refused.
 * Clocks of two processes are never compared.
 */
import type { Lease, LeaseStore, LeaseView } from '../cluster.ts'
import { LOCK_CHAIN } from './chainStore.ts'
import { type Connection, statement } from './connection.ts'

const LEASES = statement('SELECT chain_id AS "chainId", generation, beats, owner FROM seat ORDER BY chain_id')
const FIRST = statement(`
  INSERT INTO seat (chain_id, generation, beats, owner) VALUES ($1, 1, 0, $2)
  ON CONFLICT DO NOTHING RETURNING generation`)
const NEXT = statement(`
  UPDATE seat SET generation = generation + 1, beats = beats + 1, owner = $2
  WHERE chain_id = $1 AND generation = $3 AND beats = $4 RETURNING generation`)
const BEAT = statement(`
  UPDATE seat SET beats = beats + 1
  FROM unnest($1::bigint[], $2::bigint[]) AS held (chain_id, generation)
  WHERE seat.chain_id = held.chain_id AND seat.generation = held.generation
  RETURNING seat.chain_id AS "chainId", seat.generation`)
const LEAVE = statement("UPDATE seat SET owner = '' WHERE chain_id = $1 AND generation = $2")

export function leaseStore(connection: Connection): LeaseStore {
  return {
    readLeases: () => connection.query<LeaseView>(LEASES),

    takeLease(chainId, seen, owner) {
      return connection.write(async (query): Promise<Lease | null> => {
        await query(LOCK_CHAIN, [chainId])
        const [taken] =
          seen === null
            ? await query<{ generation: number }>(FIRST, [chainId, owner])
            : await query<{ generation: number }>(NEXT, [chainId, owner, seen.generation, seen.beats])
        return taken === undefined ? null : { chainId, generation: taken.generation }
      })
    },

    beat: leases =>
      connection.query<Lease>(BEAT, [
        leases.map(({ chainId }) => chainId),
        leases.map(({ generation }) => generation),
      ]),

    async leaveLease({ chainId, generation }) {
      await connection.query(LEAVE, [chainId, generation])
    },
  }
}
