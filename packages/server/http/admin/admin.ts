/**
 * The operator's endpoints. A caller needs a key with scope `admin` and an address on the allowlist; every change is
 * recorded in the audit log with the key that made it.
 */
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../plumbing/context.ts'
import { registerAudit } from './audit.ts'
import { registerBackfill } from './backfill.ts'
import { registerChainSwitches } from './chains.ts'
import { registerConsumers } from './consumers.ts'
import { registerIncidents } from './incidents.ts'
import { registerKeys } from './keys.ts'
import { registerPolicy } from './policy.ts'
import { registerRetention } from './retention.ts'
import { registerEnrolments } from './tokens.ts'

export function registerAdmin(app: FastifyInstance, context: HttpContext): void {
  registerKeys(app, context)
  registerConsumers(app, context)
  registerEnrolments(app, context)
  registerPolicy(app, context)
  registerBackfill(app, context)
  registerRetention(app, context)
  registerChainSwitches(app, context)
  registerAudit(app, context)
  registerIncidents(app, context)
}
