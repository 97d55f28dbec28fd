/** Deliveries of one webhook, newest first: delivered, waiting, and the receiver's last answer. */
import type { WebhookClient, WebhookDeliveryPage } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useAnswer, useNow } from '../answer.ts'
import { count, dateTime, duration, words } from '../format.ts'
import { Answered } from '../parts/answered.tsx'
import { ErrorNote } from '../parts/note.tsx'
import { Table } from '../parts/table.tsx'
import { useAttempt } from './attempt.ts'

type Props = {
  readonly webhooks: WebhookClient
  readonly webhookId: string
  /** Deliveries are read again when it changes. */
  readonly turn: string
}

const PAGE = 50

export function Deliveries({ webhooks, webhookId, turn }: Props) {
  const [older, setOlder] = useState<readonly WebhookDeliveryPage[]>([])
  const [fault, attempt] = useAttempt()
  const answer = useAnswer(webhookId, turn, signal =>
    webhooks.fetchDeliveries(webhookId, { limit: PAGE }, { signal }),
  )
  // A page that has grown no longer ends where the next one began.
  useEffect(() => setOlder([]), [answer.value])
  const pages = answer.value === null ? [] : [answer.value, ...older]
  const next = pages.at(-1)?.next_cursor ?? null
  const more = (cursor: string) =>
    attempt(webhooks.fetchDeliveries(webhookId, { limit: PAGE, cursor }), page => setOlder([...older, page]))
  return (
    <>
      <h3>Deliveries</h3>
      <ErrorNote failure={fault} />
      <Answered answer={answer} what="deliveries">
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <p class="muted">Nothing has been delivered yet.</p>
          ) : (
            <Table
              about="Deliveries"
              columns={[
                ['Record', 'right'],
                'State',
                ['Attempts', 'right'],
                'Matched',
                'Last answer',
                'Next attempt',
              ]}
            >
              {pages
                .flatMap(page => page.deliveries)
                .map(delivery => (
                  <Delivery key={delivery.message_id} delivery={delivery} />
                ))}
            </Table>
          )
        }
      </Answered>
      {next !== null && (
        <p>
          <button type="button" onClick={() => more(next)}>
            Older
          </button>
        </p>
      )}
    </>
  )
}

function Delivery({ delivery }: { readonly delivery: WebhookDeliveryPage['deliveries'][number] }) {
  const now = useNow()
  const { state, attempts, status, error, next_attempt_at_ms: nextMs } = delivery
  return (
    <tr>
      <td class="right number">
        <span title={delivery.message_id}>{count(delivery.stream_sequence)}</span>
      </td>
      <td>
        <span class={`tag ${state === 'DELIVERED' ? 'ok' : 'warn'}`}>{words(state)}</span>
      </td>
      <td class="right number">{count(attempts)}</td>
      <td class="number">{dateTime(delivery.matched_at_ms)}</td>
      <td class="wrap">{error ?? (status === null ? '–' : `status ${status}`)}</td>
      <td class="number">{nextMs === null ? '' : nextMs <= now ? 'now' : `in ${duration(nextMs - now)}`}</td>
    </tr>
  )
}
