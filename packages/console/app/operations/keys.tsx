/** API keys: issue one and see it once, list them, revoke one after saying so twice. */
import { type Client, type IssuedKey, type Key, SCOPES } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { useAnswer } from '../answer.ts'
import { dateTime } from '../format.ts'
import { Copyable } from '../parts/copy.tsx'
import { ErrorNote, Loading } from '../parts/note.tsx'

type Props = { readonly client: Client; readonly onChanged: () => void }
type Scope = (typeof SCOPES)[number]

export function Keys({ client, onChanged }: Props) {
  const [turn, setTurn] = useState(0)
  const [issued, setIssued] = useState<IssuedKey | null>(null)
  const [fault, setFault] = useState<Error | null>(null)
  const { value, failure, reload } = useAnswer('keys', turn, signal => client.admin.fetchKeys({ signal }))
  const changed = () => {
    setTurn(turn + 1)
    setFault(null)
    onChanged()
  }
  const revoke = (key: Key) => {
    client.admin.revokeKey(key.key_id).then(changed, (error: unknown) => setFault(error as Error))
  }
  return (
    <section class="card flush" aria-label="Keys">
      <header class="tools">
        <h2>Keys</h2>
      </header>
      <IssueForm
        client={client}
        onFault={setFault}
        onIssued={key => {
          setIssued(key)
          changed()
        }}
      />
      {fault !== null && <ErrorNote failure={fault} />}
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
      {failure !== null && <ErrorNote failure={failure} onRetry={reload} />}
      {value === null ? (
        failure === null && <Loading what="keys" />
      ) : (
        <KeyTable keys={value.keys} onRevoke={revoke} />
      )}
    </section>
  )
}

type FormProps = {
  readonly client: Client
  readonly onIssued: (key: IssuedKey) => void
  readonly onFault: (failure: Error) => void
}

function IssueForm({ client, onIssued, onFault }: FormProps) {
  const [name, setName] = useState('')
  const [consumer, setConsumer] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['read', 'stream'])
  const issue = () => {
    client.admin.issueKey({ name: name.trim(), consumer: consumer.trim() || name.trim(), scopes }).then(
      key => {
        setName('')
        setConsumer('')
        onIssued(key)
      },
      (error: unknown) => onFault(error as Error),
    )
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
          placeholder="as the name"
          value={consumer}
          onInput={event => setConsumer(event.currentTarget.value)}
        />
      </label>
      <fieldset class="choices">
        <legend class="hidden">Scopes</legend>
        {SCOPES.map(scope => (
          <label key={scope} class="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={() =>
                setScopes(scopes.includes(scope) ? scopes.filter(each => each !== scope) : [...scopes, scope])
              }
            />
            {scope}
          </label>
        ))}
      </fieldset>
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
  const [doubted, setDoubted] = useState<string | null>(null)
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="All keys">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Consumer</th>
            <th scope="col">Id</th>
            <th scope="col">Scopes</th>
            <th scope="col">Made</th>
            <th scope="col">Ends</th>
            <th scope="col">
              <span class="hidden">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map(key => (
            <tr key={key.key_id} class={key.revoked_at_ms === null ? '' : 'dim'}>
              <td>{key.name}</td>
              <td>{key.consumer}</td>
              <td>
                <code>{key.key_id}</code>
              </td>
              <td>{key.scopes.join(', ')}</td>
              <td class="number">{dateTime(key.created_at_ms)}</td>
              <td class="number">{key.expires_at_ms === null ? 'never' : dateTime(key.expires_at_ms)}</td>
              <td class="right">
                {key.revoked_at_ms !== null ? (
                  <span class="tag bad">revoked</span>
                ) : doubted === key.key_id ? (
                  <>
                    <button type="button" class="small danger" onClick={() => onRevoke(key)}>
                      Revoke {key.name} now
                    </button>{' '}
                    <button type="button" class="small quiet" onClick={() => setDoubted(null)}>
                      Keep
                    </button>
                  </>
                ) : (
                  <button
                    type="button"
                    class="small"
                    aria-label={`Revoke ${key.name}`}
                    onClick={() => setDoubted(key.key_id)}
                  >
                    Revoke
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
