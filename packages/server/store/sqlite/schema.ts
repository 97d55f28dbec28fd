/** All schema migrations in order. Append only: a released migration never changes. */
import type { Migration } from '../migrations.ts'
import { log } from './schema/0001-log.ts'
import { market } from './schema/0002-market.ts'
import { access } from './schema/0003-access.ts'
import { backfill } from './schema/0004-backfill.ts'
import { history } from './schema/0005-history.ts'
import { events } from './schema/0006-events.ts'
import { families } from './schema/0007-families.ts'
import { webhooks } from './schema/0008-webhooks.ts'
import { quotes } from './schema/0009-quotes.ts'
import { packedLog } from './schema/0010-packed-log.ts'
import { keptStates } from './schema/0011-kept-states.ts'
import { withdrawals } from './schema/0012-withdrawals.ts'
import { candles } from './schema/0013-candles.ts'
import { eventBlocks } from './schema/0014-event-blocks.ts'

export const schema: readonly Migration[] = [
  { version: 1, name: 'log', sql: log },
  { version: 2, name: 'market', sql: market },
  { version: 3, name: 'access', sql: access },
  { version: 4, name: 'backfill', sql: backfill },
  { version: 5, name: 'history', sql: history },
  { version: 6, name: 'events', sql: events },
  { version: 7, name: 'families', sql: families },
  { version: 8, name: 'webhooks', sql: webhooks, oldest: 7 },
  { version: 9, name: 'quotes', sql: quotes },
  { version: 10, name: 'packed log', sql: packedLog },
  { version: 11, name: 'kept states', sql: keptStates, oldest: 10 },
  { version: 12, name: 'withdrawals', sql: withdrawals },
  { version: 13, name: 'candles', sql: candles, oldest: 12 },
  { version: 14, name: 'event blocks', sql: eventBlocks },
]
