/**
 * Webhooks on PostgreSQL. Writes of the sender lock the row of its turn, so that no other sender can take over
 * meanwhile.
 */
import {
  type StoredWebhook,
  DELIVERY_COLUMNS,
  pastTurn,
  WEBHOOK_COLUMNS,
  webhookRow,
} from '../webhookRows.ts'
import type { DeliveryRow, WebhookRegistry, WebhookStore, WebhookTurns, WebhookTurn } from '../webhooks.ts'
import { rowLimit } from '../rowLimit.ts'
import { type Connection, type Query, statement } from './connection.ts'

const COUNT = statement('SELECT count(*) AS webhooks FROM webhook WHERE consumer = $1')
const INSERT = statement(`
  INSERT INTO webhook (webhook_id, consumer, name, url, condition, state, secret, revision, created_at_ms)
  VALUES ($1, $2, $3, $4, $5, 'ACTIVE', $6, 0, $7)`)
const INSERT_PLACE = statement('INSERT INTO webhook_place (webhook_id, position, memory) VALUES ($1, $2, $3)')
const ONE = statement(`SELECT ${WEBHOOK_COLUMNS} WHERE w.webhook_id = $1`)
const ALL = statement(`
  SELECT ${WEBHOOK_COLUMNS} WHERE $1::text IS NULL OR w.consumer = $1 ORDER BY w.created_at_ms, w.webhook_id`)
const SET_STATE = statement(`
  UPDATE webhook SET state = $2, reason = $3, revision = revision + 1 WHERE webhook_id = $1 RETURNING revision`)
const TRY_ANEW = statement(`
  UPDATE webhook_delivery SET first_attempt_at_ms = NULL, next_attempt_at_ms = 0
  WHERE webhook_id = $1 AND state = 'PENDING'`)
const ROTATE = statement(`
  UPDATE webhook SET previous_secret = secret, previous_until_ms = $2, secret = $3, revision = revision + 1
  WHERE webhook_id = $1 RETURNING revision`)
const MOVE = statement('UPDATE webhook_place SET position = $2, memory = $3 WHERE webhook_id = $1')
const FORGET = statement('DELETE FROM webhook_delivery WHERE webhook_id = $1 AND sequence > $2')
const REMOVE = statement('DELETE FROM webhook WHERE webhook_id = $1 RETURNING webhook_id')
const PAGE = statement(`
  SELECT ${DELIVERY_COLUMNS}
  WHERE webhook_id = $1 AND ($2::bigint IS NULL OR sequence < $2) ORDER BY sequence DESC LIMIT $3`)
const PENDING = statement(`
  SELECT ${DELIVERY_COLUMNS} WHERE webhook_id = $1 AND state = 'PENDING' ORDER BY sequence LIMIT $2`)

const NOTE = statement(`
  INSERT INTO webhook_turn (id, generation, beats, owner, revision) VALUES (1, 0, 0, '', 1)
  ON CONFLICT (id) DO UPDATE SET revision = webhook_turn.revision + 1`)
const TURN = statement('SELECT generation, beats, owner, revision FROM webhook_turn WHERE id = 1')
const HOLD_TURN = statement('SELECT generation FROM webhook_turn WHERE id = 1 FOR UPDATE')
const TAKE = statement(`
  INSERT INTO webhook_turn (id, generation, beats, owner, revision) VALUES (1, 1, 1, $1, 0)
  ON CONFLICT (id) DO UPDATE SET generation = webhook_turn.generation + 1, beats = webhook_turn.beats + 1,
    owner = excluded.owner
  WHERE $2::bigint IS NULL OR (webhook_turn.generation = $2 AND webhook_turn.beats = $3)
  RETURNING generation`)
const BEAT = statement('UPDATE webhook_turn SET beats = beats + 1 WHERE generation = $1 RETURNING generation')
const LEAVE = statement("UPDATE webhook_turn SET owner = '' WHERE generation = $1")
const ADVANCE = statement(`
  UPDATE webhook_place AS p SET position = m.position, memory = m.memory
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) AS m (webhook_id, revision, position, memory)
  JOIN webhook AS w ON w.webhook_id = m.webhook_id AND w.revision = m.revision
  WHERE p.webhook_id = m.webhook_id RETURNING p.webhook_id AS "webhookId"`)
const INSERT_DELIVERIES = statement(`
  INSERT INTO webhook_delivery (webhook_id, sequence, state, body, matched_at_ms, attempts, next_attempt_at_ms)
  SELECT webhook_id, sequence, 'PENDING', body, matched_at_ms, 0, 0
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) AS d (webhook_id, sequence, body, matched_at_ms)
  ON CONFLICT DO NOTHING`)
const SETTLE = statement(`
  UPDATE webhook_delivery SET state = $3, attempts = attempts + 1, first_attempt_at_ms = $4,
    last_attempt_at_ms = $5, next_attempt_at_ms = $6, status = $7, error = $8
  WHERE webhook_id = $1 AND sequence = $2 AND state = 'PENDING'`)
const PARK = statement(`
  UPDATE webhook SET state = 'PARKED', reason = $2, revision = revision + 1
  WHERE webhook_id = $1 AND state = 'ACTIVE' RETURNING revision`)
const PRUNE = statement(`
  DELETE FROM webhook_delivery WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM webhook_delivery WHERE state = 'DELIVERED' AND last_attempt_at_ms < $1
    ORDER BY last_attempt_at_ms LIMIT $2)) RETURNING sequence`)

export const webhookStore = (connection: Connection): WebhookStore => ({
  ...registryStore(connection),
  ...turnsStore(connection),
})

function registryStore(connection: Connection): WebhookRegistry {
  /**
   * The sender detects a change by the revision. Both sides lock the row of the turn first, so changes and the sender's
   * writes are serialised and the sender never mistakes an old revision for the current one.
   */
  const changing = (change: (query: Query) => Promise<boolean>): Promise<boolean> =>
    connection.write(async query => {
      await query(NOTE)
      return change(query)
    })

  return {
    insertWebhook: (webhook, most) =>
      changing(async query => {
        const { webhookId, consumer, name, url, condition, secret, createdAtMs, position, memory } = webhook
        const [counted] = await query<{ webhooks: number }>(COUNT, [consumer])
        if ((counted?.webhooks ?? 0) >= most) return false
        await query(INSERT, [webhookId, consumer, name, url, condition, secret.reveal(), createdAtMs])
        await query(INSERT_PLACE, [webhookId, position, memory])
        return true
      }),
    async readWebhook(webhookId) {
      const [row] = await connection.query<StoredWebhook>(ONE, [webhookId])
      return row === undefined ? null : webhookRow(row)
    },
    async listWebhooks(consumer) {
      return (await connection.query<StoredWebhook>(ALL, [consumer])).map(webhookRow)
    },
    setWebhookState: (webhookId, state, reason) =>
      changing(async query => {
        if ((await query(SET_STATE, [webhookId, state, reason])).length === 0) return false
        if (state === 'ACTIVE') await query(TRY_ANEW, [webhookId])
        return true
      }),
    rotateWebhook: (webhookId, secret, previousUntilMs) =>
      changing(
        async query => (await query(ROTATE, [webhookId, previousUntilMs, secret.reveal()])).length === 1,
      ),
    moveWebhook: (webhookId, position, memory) =>
      changing(async query => {
        if ((await query(SET_STATE, [webhookId, 'ACTIVE', null])).length === 0) return false
        await query(MOVE, [webhookId, position, memory])
        await query(FORGET, [webhookId, position])
        await query(TRY_ANEW, [webhookId])
        return true
      }),
    deleteWebhook: webhookId => changing(async query => (await query(REMOVE, [webhookId])).length === 1),
    readDeliveries: ({ webhookId, before, limit }) =>
      connection.query<DeliveryRow>(PAGE, [webhookId, before, rowLimit(limit)]),
    readPending: (webhookId, limit) => connection.query<DeliveryRow>(PENDING, [webhookId, rowLimit(limit)]),
  }
}

function turnsStore(connection: Connection): WebhookTurns {
  const inTurn = <Result>(generation: number, body: (query: Query) => Promise<Result>): Promise<Result> =>
    connection.write(async query => {
      const [turn] = await query<{ generation: number }>(HOLD_TURN)
      if (turn?.generation !== generation) throw pastTurn(generation)
      return body(query)
    })

  return {
    async readWebhookTurn() {
      return (await connection.query<WebhookTurn>(TURN))[0] ?? null
    },
    async takeWebhookTurn(owner, seen) {
      const [taken] = await connection.query<{ generation: number }>(TAKE, [
        owner,
        seen?.generation ?? null,
        seen?.beats ?? null,
      ])
      return taken?.generation ?? null
    },
    async beatWebhookTurn(generation) {
      return (await connection.query(BEAT, [generation])).length === 1
    },
    async leaveWebhookTurn(generation) {
      await connection.query(LEAVE, [generation])
    },
    advanceWebhooks: (generation, moves) =>
      inTurn(generation, async query => {
        const moved = await query<{ webhookId: string }>(ADVANCE, [
          moves.map(({ webhookId }) => webhookId),
          moves.map(({ revision }) => revision),
          moves.map(({ position }) => position),
          moves.map(({ memory }) => memory),
        ])
        const accepted = new Set(moved.map(({ webhookId }) => webhookId))
        const found = moves
          .filter(({ webhookId }) => accepted.has(webhookId))
          .flatMap(({ webhookId, deliveries }) => deliveries.map(each => ({ webhookId, ...each })))
        if (found.length > 0)
          await query(INSERT_DELIVERIES, [
            found.map(({ webhookId }) => webhookId),
            found.map(({ sequence }) => sequence),
            found.map(({ body }) => body),
            found.map(({ matchedAtMs }) => matchedAtMs),
          ])
        return moves.map(({ webhookId }) => webhookId).filter(webhookId => !accepted.has(webhookId))
      }),
    settleDeliveries: (generation, outcomes) =>
      inTurn(generation, async query => {
        for (const each of outcomes) {
          const { webhookId, sequence, state, atMs, firstAttemptAtMs, nextAttemptAtMs, status, error } = each
          const values = [webhookId, sequence, state, firstAttemptAtMs, atMs, nextAttemptAtMs, status, error]
          await query(SETTLE, values)
          if (each.parks !== null && (await query(PARK, [webhookId, each.parks])).length === 1)
            await query(NOTE)
        }
      }),
    pruneDeliveries: (generation, beforeMs, limit) =>
      inTurn(generation, async query => (await query(PRUNE, [beforeMs, limit])).length),
  }
}
