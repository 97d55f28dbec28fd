/**
 * One writer per chain among processes that share the database.
 *
 * A holder counts up its seat's beats; who has seen the same count for too long, by its own clock, takes the seat with
 * the next number. It does so under the lock that commits of the chain take: a commit is either done before, and then
 * the successor starts from it, or it finds another number in the seat and is refused. No two clocks are ever compared.
 */
import type { Seat, SeatStore, SeatView } from '../cluster.ts'
import { LOCK_CHAIN } from './chainStore.ts'
import { type Connection, statement } from './connection.ts'

const SEATS = statement('SELECT chain_id AS "chainId", generation, beats, owner FROM seat ORDER BY chain_id')
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

export function seatStore(connection: Connection): SeatStore {
  return {
    readSeats: () => connection.query<SeatView>(SEATS),

    takeSeat(chainId, seen, owner) {
      return connection.write(async (query): Promise<Seat | null> => {
        await query(LOCK_CHAIN, [chainId])
        const [taken] =
          seen === null
            ? await query<{ generation: number }>(FIRST, [chainId, owner])
            : await query<{ generation: number }>(NEXT, [chainId, owner, seen.generation, seen.beats])
        return taken === undefined ? null : { chainId, generation: taken.generation }
      })
    },

    beat: seats =>
      connection.query<Seat>(BEAT, [
        seats.map(({ chainId }) => chainId),
        seats.map(({ generation }) => generation),
      ]),

    async leaveSeat({ chainId, generation }) {
      await connection.query(LEAVE, [chainId, generation])
    },
  }
}
