/** Who changed what and when; newest first. */
import type { AuditPage, Client } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useAnswer } from '../answer.ts'
import { dateTime } from '../format.ts'
import { ErrorNote, Loading } from '../parts/note.tsx'

const PAGE = 50

export function AuditLog({ client, turn }: { readonly client: Client; readonly turn: number }) {
  const [older, setOlder] = useState<readonly AuditPage[]>([])
  const [fault, setFault] = useState<Error | null>(null)
  const { value, failure, reload } = useAnswer('audit', turn, signal =>
    client.admin.fetchAudit({ limit: PAGE }, { signal }),
  )
  useEffect(() => setOlder([]), [value])
  const pages = value === null ? [] : [value, ...older]
  const next = pages.at(-1)?.next_cursor ?? null
  const more = (cursor: string) => {
    client.admin.fetchAudit({ limit: PAGE, cursor }).then(
      page => setOlder([...older, page]),
      (error: unknown) => setFault(error as Error),
    )
  }
  return (
    <section class="card flush" aria-label="Audit log">
      <header class="tools">
        <h2>Audit log</h2>
      </header>
      {(failure ?? fault) !== null && <ErrorNote failure={(failure ?? fault) as Error} onRetry={reload} />}
      {value === null ? (
        failure === null && <Loading what="the audit log" />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Changes">
          <table>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Who</th>
                <th scope="col">What</th>
                <th scope="col">On</th>
                <th scope="col">Detail</th>
              </tr>
            </thead>
            <tbody>
              {pages
                .flatMap(page => page.entries)
                .map((entry, at) => (
                  <tr key={at}>
                    <td class="number">{dateTime(entry.at_ms)}</td>
                    <td>{entry.actor}</td>
                    <td>{entry.action}</td>
                    <td>
                      <code>{entry.subject}</code>
                    </td>
                    <td class="detail muted">{entry.detail ?? ''}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
      {next !== null && (
        <p class="tools">
          <button type="button" onClick={() => more(next)}>
            Older
          </button>
        </p>
      )}
    </section>
  )
}
