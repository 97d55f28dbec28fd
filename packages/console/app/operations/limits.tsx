/** What a consumer's keys and sessions together may do: read, changed, and in force at once. */
import type { ConsumerRecord, LimitsRequest } from '@assay/sdk'
import { useState } from 'preact/hooks'
import type { Live } from '../live.ts'
import { ErrorNote } from '../parts/note.tsx'

type Props = { readonly live: Live; readonly onChanged: () => void }

const FIELDS = [
  ['units', 'Requests'],
  ['window_ms', 'per ms'],
  ['burst', 'Burst'],
  ['stream_connections', 'Streams'],
  ['enrolments_per_day', 'New tokens a day'],
] as const

export function Limits({ live, onChanged }: Props) {
  const { admin } = live.client
  const [name, setName] = useState('')
  const [record, setRecord] = useState<ConsumerRecord | null>(null)
  const [limits, setLimits] = useState<LimitsRequest | null>(null)
  const [failure, setFailure] = useState<Error | null>(null)
  const [said, setSaid] = useState('')
  const take = (asked: Promise<ConsumerRecord>, text: string) =>
    asked.then(
      answer => {
        setRecord(answer)
        setLimits(answer.limits)
        setFailure(null)
        setSaid(text)
      },
      (error: unknown) => setFailure(error as Error),
    )
  return (
    <section class="card" aria-label="Limits">
      <h2>Limits</h2>
      <form
        class="tools bare"
        onSubmit={event => {
          event.preventDefault()
          void take(admin.fetchConsumer(name.trim()), '')
        }}
      >
        <label>
          Of consumer{' '}
          <input required maxLength={64} value={name} onInput={event => setName(event.currentTarget.value)} />
        </label>
        <button type="submit">Look up</button>
      </form>
      {failure !== null && <ErrorNote failure={failure} />}
      {record !== null && limits !== null && (
        <form
          class="tools bare"
          aria-label={`Limits of ${record.consumer}`}
          onSubmit={event => {
            event.preventDefault()
            void take(admin.setLimits(record.consumer, limits), 'In force.').then(onChanged)
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
    </section>
  )
}
