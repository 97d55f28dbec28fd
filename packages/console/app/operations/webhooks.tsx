/**
 * Webhooks: register one and see its secret once, list them with the reason a parked one is parked, and open one to
 * act on it.
 */
import type { Webhook, WebhookWithSecret } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { useAnswer, useLooks } from '../answer.ts'
import { count } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { Answered } from '../parts/answered.tsx'
import { WideCard } from '../parts/card.tsx'
import { Copyable } from '../parts/copy.tsx'
import { ErrorNote } from '../parts/note.tsx'
import { Table } from '../parts/table.tsx'
import { keepSettings, settingsIn } from '../place.ts'
import { useAttempt } from './attempt.ts'
import { conditionWords } from './condition.ts'
import { WebhookForm } from './webhookForm.tsx'
import { WebhookPanel } from './webhookPanel.tsx'
import { StateTag } from './webhookState.tsx'

type Props = { readonly live: Live; readonly onChanged: () => void }

/** The polling interval for deliveries, which continue in the background. */
const LOOK_MS = 5000

export function Webhooks({ live, onChanged }: Props) {
  const [shown, setShown] = useState<WebhookWithSecret | null>(null)
  const [opened, setOpened] = useState(settingsIn(location.hash).get('webhook'))
  const [fault, attempt] = useAttempt()
  const answer = useAnswer('webhooks', 0, signal => live.client.webhooks.fetchAll({ signal }))
  const { value, reload } = answer
  useLooks(true, LOOK_MS, reload)
  const open = (webhookId: string | null) => {
    setOpened(webhookId)
    keepSettings({ webhook: webhookId })
  }
  const changed = () => {
    reload()
    onChanged()
  }
  const showSecret = (webhook: WebhookWithSecret) => {
    setShown(webhook)
    open(webhook.webhook_id)
    changed()
  }
  const chosen = value?.webhooks.find(({ webhook_id }) => webhook_id === opened)
  return (
    <>
      <WideCard name="Webhooks">
        <WebhookForm live={live} attempt={attempt} onMade={showSecret} />
        <ErrorNote failure={fault} />
        {shown !== null && (
          <div class="note ok" role="status">
            <p>
              The secret that signs the messages of <strong>{shown.name}</strong>. It is shown this once:
            </p>
            <Copyable text={shown.secret} what="the secret" />
            <button type="button" class="quiet small" onClick={() => setShown(null)}>
              Done
            </button>
          </div>
        )}
        <Answered answer={answer} what="webhooks">
          {({ webhooks }) =>
            webhooks.length === 0 ? (
              <p class="empty">No webhooks yet. A webhook calls your URL when a record meets a condition.</p>
            ) : (
              <WebhookTable live={live} webhooks={webhooks} opened={opened} onOpen={open} />
            )
          }
        </Answered>
      </WideCard>
      {chosen !== undefined && (
        <WebhookPanel
          key={chosen.webhook_id}
          live={live}
          webhook={chosen}
          onSecret={showSecret}
          onChanged={changed}
          onClosed={() => open(null)}
        />
      )}
    </>
  )
}

type TableProps = {
  readonly live: Live
  readonly webhooks: readonly Webhook[]
  readonly opened: string | null
  readonly onOpen: (webhookId: string) => void
}

function WebhookTable({ live, webhooks, opened, onOpen }: TableProps) {
  useLive(live)
  return (
    <Table
      about="All webhooks"
      columns={[
        'Name',
        'Called when',
        'Receiver',
        'Consumer',
        'State',
        ['Waiting', 'right'],
        ['Open', 'hidden'],
      ]}
    >
      {webhooks.map(webhook => (
        <tr key={webhook.webhook_id}>
          <td>{webhook.name}</td>
          <td class="wrap">{conditionWords(live, webhook.condition)}</td>
          <td>
            <code>{hostOf(webhook.url)}</code>
          </td>
          <td>{webhook.consumer}</td>
          <td class="wrap">
            <StateTag state={webhook.state} />{' '}
            {webhook.reason !== null && <span class="muted small">{webhook.reason}</span>}
          </td>
          <td class="right number">{count(webhook.pending)}</td>
          <td class="right">
            <button
              type="button"
              class="small"
              aria-label={`Open ${webhook.name}`}
              aria-pressed={webhook.webhook_id === opened}
              onClick={() => onOpen(webhook.webhook_id)}
            >
              Open
            </button>
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** Without path and query, which may hold a token of the receiver. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? '–'
