/** Webhooks on SQLite. Writes of the sender carry the number of its turn. */
import {
  type StoredWebhook,
  DELIVERY_COLUMNS,
  pastTurn,
  WEBHOOK_COLUMNS,
  webhookRow,
} from '../webhookRows.ts'
import type { DeliveryRow, WebhookRegistry, WebhookStore, WebhookTurns, WebhookTurn } from '../webhooks.ts'
import { rowLimit } from '../rowLimit.ts'
import type { Connection } from './connection.ts'

export const webhookStore = (connection: Connection): WebhookStore => ({
  ...registryStore(connection),
  ...turnsStore(connection),
})

function registryStore(connection: Connection): WebhookRegistry {
  const count = connection.prepare('SELECT count(*) AS webhooks FROM webhook WHERE consumer = ?')
  const insert = connection.prepare(`
    INSERT INTO webhook (webhook_id, consumer, name, url, condition, state, secret, revision, created_at_ms)
    VALUES (?, ?, ?, ?, ?, 'ACTIVE', ?, 0, ?)`)
  const insertPlace = connection.prepare(
    'INSERT INTO webhook_place (webhook_id, position, memory) VALUES (?, ?, ?)',
  )
  const one = connection.prepare(`SELECT ${WEBHOOK_COLUMNS} WHERE w.webhook_id = ?`)
  const all = connection.prepare(`SELECT ${WEBHOOK_COLUMNS} ORDER BY w.created_at_ms, w.webhook_id`)
  const ofConsumer = connection.prepare(
    `SELECT ${WEBHOOK_COLUMNS} WHERE w.consumer = ? ORDER BY w.created_at_ms, w.webhook_id`,
  )
  const setState = connection.prepare(
    'UPDATE webhook SET state = ?, reason = ?, revision = revision + 1 WHERE webhook_id = ?',
  )
  const tryAnew = connection.prepare(`
    UPDATE webhook_delivery SET first_attempt_at_ms = NULL, next_attempt_at_ms = 0
    WHERE webhook_id = ? AND state = 'PENDING'`)
  const rotate = connection.prepare(`
    UPDATE webhook SET previous_secret = secret, previous_until_ms = ?, secret = ?, revision = revision + 1
    WHERE webhook_id = ?`)
  const move = connection.prepare('UPDATE webhook_place SET position = ?, memory = ? WHERE webhook_id = ?')
  const forget = connection.prepare('DELETE FROM webhook_delivery WHERE webhook_id = ? AND sequence > ?')
  const remove = connection.prepare('DELETE FROM webhook WHERE webhook_id = ?')
  const page = connection.prepare(`
    SELECT ${DELIVERY_COLUMNS} WHERE webhook_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`)
  const pending = connection.prepare(`
    SELECT ${DELIVERY_COLUMNS} WHERE webhook_id = ? AND state = 'PENDING' ORDER BY sequence LIMIT ?`)
  const note = connection.prepare(`
    INSERT INTO webhook_turn (id, generation, beats, owner, revision) VALUES (1, 0, 0, '', 1)
    ON CONFLICT DO UPDATE SET revision = revision + 1`)
  /** The sender detects a change by the revision. */
  const changing = (change: () => boolean): Promise<boolean> =>
    connection.write(() => {
      if (!change()) return false
      note.run()
      return true
    })

  return {
    insertWebhook: (webhook, most) =>
      changing(() => {
        const { webhookId, consumer, name, url, condition, secret, createdAtMs, position, memory } = webhook
        if ((count.get(consumer) as { webhooks: number }).webhooks >= most) return false
        insert.run(webhookId, consumer, name, url, condition, secret.reveal(), createdAtMs)
        insertPlace.run(webhookId, position, memory)
        return true
      }),
    async readWebhook(webhookId) {
      const row = connection.query(() => one.get(webhookId)) as StoredWebhook | undefined
      return row === undefined ? null : webhookRow(row)
    },
    async listWebhooks(consumer) {
      const rows = connection.query(() => (consumer === null ? all.all() : ofConsumer.all(consumer)))
      return (rows as unknown as StoredWebhook[]).map(webhookRow)
    },
    setWebhookState: (webhookId, state, reason) =>
      changing(() => {
        if (setState.run(state, reason, webhookId).changes === 0) return false
        if (state === 'ACTIVE') tryAnew.run(webhookId)
        return true
      }),
    rotateWebhook: (webhookId, secret, previousUntilMs) =>
      changing(() => rotate.run(previousUntilMs, secret.reveal(), webhookId).changes === 1),
    moveWebhook: (webhookId, position, memory) =>
      changing(() => {
        if (setState.run('ACTIVE', null, webhookId).changes === 0) return false
        move.run(position, memory, webhookId)
        forget.run(webhookId, position)
        tryAnew.run(webhookId)
        return true
      }),
    deleteWebhook: webhookId => changing(() => remove.run(webhookId).changes === 1),
    async readDeliveries({ webhookId, before, limit }) {
      const below = before ?? Number.MAX_SAFE_INTEGER
      const rows = connection.query(() => page.all(webhookId, below, rowLimit(limit)))
      return rows as unknown as DeliveryRow[]
    },
    async readPending(webhookId, limit) {
      return connection.query(() => pending.all(webhookId, rowLimit(limit))) as unknown as DeliveryRow[]
    },
  }
}

function turnsStore(connection: Connection): WebhookTurns {
  const readTurn = connection.prepare(
    'SELECT generation, beats, owner, revision FROM webhook_turn WHERE id = 1',
  )
  const turn = () => (readTurn.get() as WebhookTurn | undefined) ?? null
  const take = connection.prepare(`
    INSERT INTO webhook_turn (id, generation, beats, owner, revision) VALUES (1, 1, 1, ?, 0)
    ON CONFLICT DO UPDATE SET generation = generation + 1, beats = beats + 1, owner = excluded.owner
    RETURNING generation`)
  const beat = connection.prepare('UPDATE webhook_turn SET beats = beats + 1 WHERE generation = ?')
  const leave = connection.prepare("UPDATE webhook_turn SET owner = '' WHERE generation = ?")
  const revisionOf = connection.prepare('SELECT revision FROM webhook WHERE webhook_id = ?')
  const move = connection.prepare('UPDATE webhook_place SET position = ?, memory = ? WHERE webhook_id = ?')
  const insert = connection.prepare(`
    INSERT INTO webhook_delivery (webhook_id, sequence, state, body, matched_at_ms, attempts, next_attempt_at_ms)
    VALUES (?, ?, 'PENDING', ?, ?, 0, 0) ON CONFLICT DO NOTHING`)
  const settle = connection.prepare(`
    UPDATE webhook_delivery SET state = ?, attempts = attempts + 1, first_attempt_at_ms = ?,
      last_attempt_at_ms = ?, next_attempt_at_ms = ?, status = ?, error = ?
    WHERE webhook_id = ? AND sequence = ? AND state = 'PENDING'`)
  const park = connection.prepare(`
    UPDATE webhook SET state = 'PARKED', reason = ?, revision = revision + 1
    WHERE webhook_id = ? AND state = 'ACTIVE'`)
  const note = connection.prepare('UPDATE webhook_turn SET revision = revision + 1')
  const prune = connection.prepare(`
    DELETE FROM webhook_delivery WHERE rowid IN (
      SELECT rowid FROM webhook_delivery WHERE state = 'DELIVERED' AND last_attempt_at_ms < ?
      ORDER BY last_attempt_at_ms LIMIT ?)`)
  const inTurn = <Result>(generation: number, body: () => Result): Promise<Result> =>
    connection.write(() => {
      if (turn()?.generation !== generation) throw pastTurn(generation)
      return body()
    })

  return {
    async readWebhookTurn() {
      return connection.query(turn)
    },
    takeWebhookTurn: (owner, seen) =>
      connection.write(() => {
        const now = turn()
        if (seen !== null && (now?.generation !== seen.generation || now.beats !== seen.beats)) return null
        return (take.get(owner) as { generation: number }).generation
      }),
    beatWebhookTurn: generation => connection.write(() => beat.run(generation).changes === 1),
    async leaveWebhookTurn(generation) {
      await connection.write(() => leave.run(generation))
    },
    advanceWebhooks: (generation, moves) =>
      inTurn(generation, () => {
        const changed: string[] = []
        for (const { webhookId, revision, position, memory, deliveries } of moves) {
          const known = revisionOf.get(webhookId) as { revision: number } | undefined
          if (known?.revision !== revision) {
            changed.push(webhookId)
            continue
          }
          move.run(position, memory, webhookId)
          for (const { sequence, body, matchedAtMs } of deliveries)
            insert.run(webhookId, sequence, body, matchedAtMs)
        }
        return changed
      }),
    settleDeliveries: (generation, outcomes) =>
      inTurn(generation, () => {
        for (const each of outcomes) {
          const { webhookId, sequence, state, atMs, firstAttemptAtMs, nextAttemptAtMs, status, error } = each
          settle.run(state, firstAttemptAtMs, atMs, nextAttemptAtMs, status, error, webhookId, sequence)
          if (each.parks !== null && park.run(each.parks, webhookId).changes === 1) note.run()
        }
      }),
    pruneDeliveries: (generation, beforeMs, limit) =>
      inTurn(generation, () => Number(prune.run(beforeMs, limit).changes)),
  }
}
