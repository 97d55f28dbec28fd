/**
 * One webhook: its properties and progress, the available actions, and its deliveries. Irreversible actions ask for
 * confirmation.
 */
import type { Webhook, WebhookTest, WebhookWithSecret } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { count, dateTime } from '../format.ts'
import type { Live } from '../live.ts'
import { Card } from '../parts/card.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { ErrorNote } from '../parts/note.tsx'
import { useAttempt } from './attempt.ts'
import { conditionWords } from './condition.ts'
import { Deliveries } from './deliveries.tsx'
import { StateTag } from './webhookState.tsx'

type Props = {
  readonly live: Live
  readonly webhook: Webhook
  readonly onSecret: (webhook: WebhookWithSecret) => void
  readonly onChanged: () => void
  readonly onClosed: () => void
}

export function WebhookPanel({ live, webhook, onSecret, onChanged, onClosed }: Props) {
  const { webhooks } = live.client
  const { webhook_id: id, name, state, reason, previous_secret_until_ms: untilMs } = webhook
  const [fault, attempt] = useAttempt()
  const [tested, setTested] = useState<WebhookTest | 'sending' | null>(null)
  // After the position moves, the deliveries are different ones.
  const [turn, setTurn] = useState(0)
  const changed = () => {
    setTurn(turn + 1)
    onChanged()
  }
  const test = () => {
    setTested('sending')
    attempt(
      webhooks.test(id).catch((failure: unknown) => {
        setTested(null)
        throw failure
      }),
      setTested,
    )
  }
  return (
    <Card name={`Webhook ${name}`} beside={<StateTag state={state} />}>
      <Facts
        facts={[
          reason === null
            ? null
            : [
                'Why',
                <span key="why">
                  {reason}. {state === 'PARKED' && 'Nothing is sent until it is resumed.'}
                </span>,
              ],
          ['Called when', conditionWords(live, webhook.condition)],
          ['Address', <code key="url">{webhook.url}</code>],
          ['ID', <code key="id">{id}</code>],
          ['Registered', `${dateTime(webhook.created_at_ms)} by ${webhook.consumer}`],
          ['Matched up to', `record ${count(webhook.position)}`],
          ['Waiting', count(webhook.pending)],
          untilMs === null ? null : ['Previous secret', `signs too until ${dateTime(untilMs)}`],
        ]}
      />
      <div class="tools bare">
        <button type="button" disabled={tested === 'sending'} onClick={test}>
          Send a test
        </button>
        {state === 'ACTIVE' ? (
          <button type="button" onClick={() => attempt(webhooks.pause(id), changed)}>
            Pause
          </button>
        ) : (
          <button type="button" onClick={() => attempt(webhooks.resume(id), changed)}>
            Resume
          </button>
        )}
        <Confirm
          class=""
          word="Rotate secret"
          sure="Create a new secret; this one expires in a day"
          onSure={() => attempt(webhooks.rotate(id), onSecret)}
        />
        <Confirm
          class=""
          word="Delete"
          sure={`Delete ${name}, with its deliveries`}
          onSure={() =>
            attempt(webhooks.remove(id), () => {
              onClosed()
              onChanged()
            })
          }
        />
        <button type="button" class="quiet" onClick={onClosed}>
          Close
        </button>
      </div>
      <Replay
        position={webhook.position}
        onReplay={after => attempt(webhooks.replay(id, { after_sequence: after }), changed)}
      />
      <ErrorNote failure={fault} />
      {tested !== null && tested !== 'sending' && <Outcome outcome={tested} />}
      <Deliveries
        webhooks={webhooks}
        webhookId={id}
        turn={`${turn} ${webhook.position} ${webhook.pending}`}
      />
    </Card>
  )
}

const Outcome = ({ outcome: { delivered, status, error } }: { readonly outcome: WebhookTest }) => (
  <p class={`note ${delivered === 'YES' ? 'ok' : 'bad'}`} role="status">
    {delivered === 'YES'
      ? `The test was delivered: status ${status}.`
      : `The test was not delivered: ${error}.`}
  </p>
)

type ReplayProps = { readonly position: number; readonly onReplay: (after: number) => void }

function Replay({ position, onReplay }: ReplayProps) {
  const [after, setAfter] = useState('')
  const isWhole = /^\d+$/.test(after)
  return (
    <div class="tools bare">
      <label>
        Match again after record{' '}
        <input
          type="number"
          min={0}
          placeholder={String(position)}
          value={after}
          onInput={event => setAfter(event.currentTarget.value)}
        />
      </label>
      <Confirm
        key={after}
        class=""
        word="Replay"
        disabled={!isWhole}
        sure={`Match the log again after ${isWhole ? count(Number(after)) : ''}`}
        onSure={() => onReplay(Number(after))}
      />
    </div>
  )
}
