/** The chains as the API calls them, wherever they run. */
import type { Policy } from '@assay/engine'
import type { HttpContext } from '../http/plumbing/context.ts'

export type Chains = Pick<HttpContext, 'chains' | 'backfills' | 'isReady'> & {
  adoptPolicy(policy: Policy): Promise<void>
  close(): Promise<void>
}
