/** The limits of a consumer's keys and sessions together: shown, changed, and in force at once. */
import type { ConsumerRecord, LimitsRequest } from '@assay/sdk'
import { useState } from 'preact/hooks'
import type { Live } from '../live.ts'
import { Card } from '../parts/card.tsx'
import { ErrorNote } from '../parts/note.tsx'
import { useAttempt } from './attempt.ts'

type Props = { readonly live: Live; readonly onChanged: () => void }

const FIELDS = [
  ['units', 'Requests'],
  ['window_ms', 'Window, ms'],
  ['burst', 'Burst'],
  ['stream_connections', 'Streams'],
  ['enrolments_per_day', 'New tokens a day'],
] as const

export function Limits({ live, onChanged }: Props) {
  const { admin } = live.client
  const [name, setName] = useState('')
  const [record, setRecord] = useState<ConsumerRecord | null>(null)
  const [limits, setLimits] = useState<LimitsRequest | null>(null)
  const [fault, attempt] = useAttempt()
  const [said, setSaid] = useState('')
  const take = (answer: ConsumerRecord, text: string) => {
    setRecord(answer)
    setLimits(answer.limits)
    setSaid(text)
  }
  return (
    <Card name="Limits">
      <form
        class="tools bare"
        onSubmit={event => {
          event.preventDefault()
          attempt(admin.fetchConsumer(name.trim()), answer => take(answer, ''))
        }}
      >
        <label>
          Consumer{' '}
          <input required maxLength={64} value={name} onInput={event => setName(event.currentTarget.value)} />
        </label>
        <button type="submit">Look up</button>
      </form>
      <ErrorNote failure={fault} />
      {record !== null && limits !== null && (
        <form
          class="tools bare"
          aria-label={`Limits of ${record.consumer}`}
          onSubmit={event => {
            event.preventDefault()
            attempt(admin.setLimits(record.consumer, limits), answer => {
              take(answer, 'In force.')
              onChanged()
            })
          }}
        >
          {FIELDS.map(([field, about]) => (
            <label key={field}>
              {about}{' '}
              <input
                type="number"
                min={0}
                required
                value={limits[field]}
                onInput={event => setLimits({ ...limits, [field]: event.currentTarget.valueAsNumber })}
              />
            </label>
          ))}
          <button type="submit" class="primary">
            Set limits
          </button>
          <span role="status">{said}</span>
        </form>
      )}
    </Card>
  )
}
