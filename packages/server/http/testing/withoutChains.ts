/** The context of an app that only has a store: no chain runs behind it, and no webhook is sent. */
import type { HttpContext } from '../plumbing/context.ts'
import { systemClock } from '../../ops/clock.ts'
import { QUIET } from '../../ops/testing/quiet.ts'

export const WITHOUT_CHAINS = {
  adoptPolicy: () => Promise.resolve(),
  backfills: { start: () => undefined, list: async () => [] },
  webhooks: {
    sending: { isAllowed: () => false, resolve: async () => [], clock: systemClock },
    changed: () => undefined,
  },
  clock: systemClock,
  log: QUIET,
  pageSecret: new Uint8Array(32),
  world: null,
  isReady: () => ({ ready: true, reasons: [] }),
} satisfies Partial<HttpContext>
