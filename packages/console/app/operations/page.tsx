/**
 * Operations, for keys with the scope admin: chains and endpoints, keys, limits, policy, back-fill, the audit log;
 * in a local world, its incidents.
 */
import type { SessionInfo } from '@assay/sdk'
import { useState } from 'preact/hooks'
import type { Live } from '../live.ts'
import { AuditLog } from './audit.tsx'
import { Backfills } from './backfills.tsx'
import { Chains } from './chains.tsx'
import { Incidents } from './incidents.tsx'
import { Keys } from './keys.tsx'
import { Limits } from './limits.tsx'
import { PolicyEditor } from './policy.tsx'

type Props = { readonly live: Live; readonly session: SessionInfo }

export function OperationsPage({ live, session }: Props) {
  // What is done on one part is in the log of another: each change makes it read again.
  const [changes, setChanges] = useState(0)
  const onChanged = () => setChanges(n => n + 1)
  if (!session.scopes.includes('admin'))
    return (
      <section class="card">
        <h1>Operations</h1>
        <p>
          This session has the scopes {session.scopes.join(', ')}. Log in with a key that has{' '}
          <code>admin</code>.
        </p>
      </section>
    )
  return (
    <>
      <h1 class="hidden">Operations</h1>
      <Chains live={live} onChanged={onChanged} />
      <Keys client={live.client} onChanged={onChanged} />
      <Limits live={live} onChanged={onChanged} />
      <PolicyEditor live={live} onChanged={onChanged} />
      <Backfills live={live} onChanged={onChanged} />
      <Incidents live={live} onChanged={onChanged} />
      <AuditLog client={live.client} turn={changes} />
    </>
  )
}
