/** The audit log: author, change and time; newest first. */
import type { AuditPage, Client } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useAnswer } from '../answer.ts'
import { dateTime } from '../format.ts'
import { Answered } from '../parts/answered.tsx'
import { WideCard } from '../parts/card.tsx'
import { ErrorNote } from '../parts/note.tsx'
import { Table } from '../parts/table.tsx'
import { useAttempt } from './attempt.ts'
import { detailText } from './auditDetail.ts'

const PAGE = 50

export function AuditLog({ client, turn }: { readonly client: Client; readonly turn: number }) {
  const [older, setOlder] = useState<readonly AuditPage[]>([])
  const [fault, attempt] = useAttempt()
  const answer = useAnswer('audit', turn, signal => client.admin.fetchAudit({ limit: PAGE }, { signal }))
  useEffect(() => setOlder([]), [answer.value])
  const pages = answer.value === null ? [] : [answer.value, ...older]
  const next = pages.at(-1)?.next_cursor ?? null
  const more = (cursor: string) =>
    attempt(client.admin.fetchAudit({ limit: PAGE, cursor }), page => setOlder([...older, page]))
  return (
    <WideCard name="Audit log">
      <ErrorNote failure={fault} />
      <Answered answer={answer} what="the audit log">
        {() => (
          <Table about="Changes" columns={['When', 'Who', 'What', 'On', 'Detail']}>
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
                  <td class="detail muted">{entry.detail === null ? '' : detailText(entry.detail)}</td>
                </tr>
              ))}
          </Table>
        )}
      </Answered>
      {next !== null && (
        <p class="tools">
          <button type="button" onClick={() => more(next)}>
            Older
          </button>
        </p>
      )}
    </WideCard>
  )
}
