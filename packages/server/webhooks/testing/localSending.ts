/** How tests and benchmarks send webhooks: to receivers on this machine, without a log. */
import { systemClock } from '../../ops/clock.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import { addressRule } from '../publicAddress.ts'
import { resolveByName } from '../target.ts'

export const LOCAL_SENDING = {
  sending: { isAllowed: addressRule(['127.0.0.1']), resolve: resolveByName, clock: systemClock },
  clock: systemClock,
  log: QUIET,
} as const
