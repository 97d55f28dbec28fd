/** Operations, for keys with the scope admin, in tabs; each tab has an address of its own. */
import type { SessionInfo } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { type Live, useLive } from '../live.ts'
import { AuditLog } from './audit.tsx'
import { Backfills } from './backfills.tsx'
import { hrefOf, type OperationsTab } from '../place.ts'
import { Chains } from './chains.tsx'
import { Loading } from '../parts/note.tsx'
import { Incidents } from './incidents.tsx'
import { Keys } from './keys.tsx'
import { Limits } from './limits.tsx'
import { PolicyEditor } from './policy.tsx'
import { Webhooks } from './webhooks.tsx'

type Props = { readonly live: Live; readonly session: SessionInfo; readonly tab: OperationsTab }

const TABS: Readonly<Record<OperationsTab, string>> = {
  health: 'Health',
  keys: 'Keys',
  webhooks: 'Webhooks',
  policy: 'Policy',
  incidents: 'Incidents',
  backfill: 'Back-fill',
  audit: 'Audit',
}

/** Tabs that begin with names of chains or tokens. */
const NAMING: ReadonlySet<OperationsTab> = new Set(['webhooks', 'incidents', 'backfill'])

export function OperationsPage({ live, session, tab }: Props) {
  // A change made in one tab is in the log of another, so each change reloads it.
  const [changes, setChanges] = useState(0)
  const onChanged = () => setChanges(n => n + 1)
  const { chains, failure } = useLive(live)
  // Names that came in later would move what stands beside them.
  const isNamed = failure !== null || [...chains.values()].some(({ status }) => status !== 'resetting')
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
      <nav class="tabs" aria-label="Operations">
        {Object.entries(TABS).map(([id, name]) => (
          <a
            key={id}
            href={hrefOf.operations(id as OperationsTab)}
            aria-current={id === tab ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
        <a class="beside" href="./docs" target="_blank" rel="noreferrer">
          API reference
        </a>
      </nav>
      {tab === 'health' && <Chains live={live} onChanged={onChanged} />}
      {tab === 'keys' && (
        <Keys client={live.client} onChanged={onChanged}>
          <Limits live={live} onChanged={onChanged} />
        </Keys>
      )}
      {NAMING.has(tab) && !isNamed && <Loading what="the chains" />}
      {tab === 'webhooks' && isNamed && <Webhooks live={live} onChanged={onChanged} />}
      {tab === 'policy' && <PolicyEditor live={live} onChanged={onChanged} />}
      {tab === 'incidents' && isNamed && <Incidents live={live} onChanged={onChanged} />}
      {tab === 'backfill' && isNamed && <Backfills live={live} onChanged={onChanged} />}
      {tab === 'audit' && <AuditLog client={live.client} turn={changes} />}
    </>
  )
}
