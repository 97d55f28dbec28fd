/** The schema of the PostgreSQL store, migration by migration. */
import type { Migration } from '../migrations.ts'
import { log } from './schema/0001-log.ts'
import { market } from './schema/0002-market.ts'
import { access } from './schema/0003-access.ts'
import { history } from './schema/0004-history.ts'
import { backfill } from './schema/0005-backfill.ts'
import { roles } from './schema/0006-roles.ts'
import { events } from './schema/0007-events.ts'
import { families } from './schema/0008-families.ts'
import { webhooks } from './schema/0009-webhooks.ts'
import { quotes } from './schema/0010-quotes.ts'
import { packedLog } from './schema/0011-packed-log.ts'
import { keptStates } from './schema/0012-kept-states.ts'
import { withdrawals } from './schema/0013-withdrawals.ts'
import { candles } from './schema/0014-candles.ts'
import { eventBlocks } from './schema/0015-event-blocks.ts'

export const schema: readonly Migration[] = [
  { version: 1, name: 'log', sql: log },
  { version: 2, name: 'market', sql: market },
  { version: 3, name: 'access', sql: access },
  { version: 4, name: 'history', sql: history },
  { version: 5, name: 'backfill', sql: backfill },
  { version: 6, name: 'roles', sql: roles },
  { version: 7, name: 'events', sql: events },
  { version: 8, name: 'families', sql: families },
  { version: 9, name: 'webhooks', sql: webhooks, oldest: 8 },
  { version: 10, name: 'quotes', sql: quotes },
  { version: 11, name: 'packed log', sql: packedLog },
  { version: 12, name: 'kept states', sql: keptStates, oldest: 11 },
  { version: 13, name: 'withdrawals', sql: withdrawals },
  { version: 14, name: 'candles', sql: candles, oldest: 13 },
  { version: 15, name: 'event blocks', sql: eventBlocks },
]
