/** API keys: issue a key and see it once, list keys, revoke one after a confirmation. */
import { type Client, type IssuedKey, type Key, SCOPES } from '@assay/sdk'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAnswer } from '../answer.ts'
import { dateTime } from '../format.ts'
import { Answered } from '../parts/answered.tsx'
import { WideCard } from '../parts/card.tsx'
import { Checks } from '../parts/checks.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Copyable } from '../parts/copy.tsx'
import { ErrorNote } from '../parts/note.tsx'
import { Table } from '../parts/table.tsx'
import { type Attempt, useAttempt } from './attempt.ts'

type Props = {
  readonly client: Client
  readonly onChanged: () => void
  /** Below the list, once that has its length. */
  readonly children: ComponentChildren
}
type Scope = (typeof SCOPES)[number]

export function Keys({ client, onChanged, children }: Props) {
  const [issued, setIssued] = useState<IssuedKey | null>(null)
  const [fault, attempt] = useAttempt()
  const answer = useAnswer('keys', 0, signal => client.admin.fetchKeys({ signal }))
  const changed = () => {
    answer.reload()
    onChanged()
  }
  return (
    <>
      <WideCard name="Keys">
        <IssueForm
          client={client}
          attempt={attempt}
          onIssued={key => {
            setIssued(key)
            changed()
          }}
        />
        <ErrorNote failure={fault} />
        {issued !== null && (
          <div class="note ok" role="status">
            <p>
              The key of <strong>{issued.name}</strong>. It is shown this once:
            </p>
            <Copyable text={issued.key} what="the new key" />
            <button type="button" class="quiet small" onClick={() => setIssued(null)}>
              Done
            </button>
          </div>
        )}
        <Answered answer={answer} what="keys">
          {({ keys }) => (
            <KeyTable
              keys={keys}
              onRevoke={({ key_id }) => attempt(client.admin.revokeKey(key_id), changed)}
            />
          )}
        </Answered>
      </WideCard>
      {(answer.value !== null || answer.failure !== null) && children}
    </>
  )
}

type FormProps = {
  readonly client: Client
  readonly attempt: Attempt
  readonly onIssued: (key: IssuedKey) => void
}

function IssueForm({ client, attempt, onIssued }: FormProps) {
  const [name, setName] = useState('')
  const [consumer, setConsumer] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['read', 'stream'])
  const issue = () => {
    const asked = { name: name.trim(), consumer: consumer.trim() || name.trim(), scopes }
    attempt(client.admin.issueKey(asked), key => {
      setName('')
      setConsumer('')
      onIssued(key)
    })
  }
  return (
    <form
      class="tools second"
      aria-label="Issue a key"
      onSubmit={event => {
        event.preventDefault()
        issue()
      }}
    >
      <label>
        Name{' '}
        <input required maxLength={64} value={name} onInput={event => setName(event.currentTarget.value)} />
      </label>
      <label>
        Consumer{' '}
        <input
          maxLength={64}
          placeholder="same as the name"
          value={consumer}
          onInput={event => setConsumer(event.currentTarget.value)}
        />
      </label>
      <Checks about="Scopes" values={SCOPES} chosen={scopes} onChoose={setScopes} />
      <button type="submit" class="primary" disabled={name.trim() === '' || scopes.length === 0}>
        Issue key
      </button>
    </form>
  )
}

function KeyTable({
  keys,
  onRevoke,
}: {
  readonly keys: readonly Key[]
  readonly onRevoke: (key: Key) => void
}) {
  return (
    <Table
      about="All keys"
      columns={['Name', 'Consumer', 'ID', 'Scopes', 'Issued', 'Expires', ['Revoke', 'hidden']]}
    >
      {keys.map(key => (
        <tr key={key.key_id} class={key.revoked_at_ms === null ? '' : 'dim'}>
          <td class="wrap name">{key.name}</td>
          <td class="wrap name">{key.consumer}</td>
          <td>
            <code>{key.key_id}</code>
          </td>
          <td>{key.scopes.join(', ')}</td>
          <td class="number">{dateTime(key.created_at_ms)}</td>
          <td class="number">{key.expires_at_ms === null ? 'never' : dateTime(key.expires_at_ms)}</td>
          <td class="right">
            {key.revoked_at_ms !== null ? (
              <span class="tag bad">revoked</span>
            ) : (
              <Confirm
                word="Revoke"
                about={`Revoke ${key.name}`}
                sure={`Revoke ${key.name} now`}
                onSure={() => onRevoke(key)}
              />
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}
