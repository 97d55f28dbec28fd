/** Registers a webhook: its address, and the condition for calls. The fields are those of the chosen condition. */
import type { WebhookWithSecret } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { type Live, useLive } from '../live.ts'
import { ChainChoice } from '../parts/chainChoice.tsx'
import type { Attempt } from './attempt.ts'
import { CONDITION_NAMES, conditionIn, type ConditionKind, type Typed } from './condition.ts'

type Props = {
  readonly live: Live
  readonly attempt: Attempt
  readonly onMade: (webhook: WebhookWithSecret) => void
}

type Value = { readonly about: string; readonly placeholder: string }

const VALUES: Readonly<Partial<Record<ConditionKind, Value>>> = {
  price_crosses: { about: 'USD', placeholder: '2500' },
  price_moves: { about: 'Percent', placeholder: '2.5' },
  score_below: { about: 'Score', placeholder: '1 to 10' },
}

export function WebhookForm({ live, attempt, onMade }: Props) {
  const { chains } = useLive(live)
  const [url, setUrl] = useState('')
  const [name, setName] = useState('')
  const [typed, setTyped] = useState<Omit<Typed, 'chainId'>>({
    kind: 'price_crosses',
    token: '',
    value: '',
    direction: '',
  })
  const [chosen, setChosen] = useState<number | null>(null)
  const chainId = chosen ?? [...chains.keys()][0] ?? null
  const { kind } = typed
  const value = VALUES[kind]
  const register = () => {
    if (chainId === null) return
    const called = name.trim() === '' ? {} : { name: name.trim() }
    attempt(
      Promise.resolve()
        .then(() => conditionIn(live, { ...typed, chainId }))
        .then(condition => live.client.webhooks.create({ url: url.trim(), condition, ...called })),
      webhook => {
        setUrl('')
        setName('')
        onMade(webhook)
      },
    )
  }
  return (
    <form
      class="tools second"
      aria-label="Register a webhook"
      onSubmit={event => {
        event.preventDefault()
        register()
      }}
    >
      <label class="grows">
        Address{' '}
        <input
          required
          type="url"
          maxLength={2048}
          placeholder="https://…"
          value={url}
          onInput={event => setUrl(event.currentTarget.value)}
        />
      </label>
      <label>
        Call it when{' '}
        <select
          value={kind}
          onChange={event =>
            setTyped({ ...typed, kind: event.currentTarget.value as ConditionKind, value: '' })
          }
        >
          {Object.entries(CONDITION_NAMES).map(([id, about]) => (
            <option key={id} value={id}>
              {about}
            </option>
          ))}
        </select>
      </label>
      <ChainChoice live={live} about="Chain of the condition" chosen={chainId} onChoose={setChosen} />
      {kind !== 'health' && (
        <label>
          Token{' '}
          <input
            required={kind !== 'retracted'}
            placeholder={kind === 'retracted' ? 'any' : 'symbol or address'}
            value={typed.token}
            onInput={event => setTyped({ ...typed, token: event.currentTarget.value })}
          />
        </label>
      )}
      {value !== undefined && (
        <label>
          {value.about}{' '}
          <input
            required
            inputMode="decimal"
            size={8}
            placeholder={value.placeholder}
            value={typed.value}
            onInput={event => setTyped({ ...typed, value: event.currentTarget.value })}
          />
        </label>
      )}
      {kind === 'price_crosses' && (
        <label>
          Direction{' '}
          <select
            value={typed.direction}
            onChange={event =>
              setTyped({ ...typed, direction: event.currentTarget.value as Typed['direction'] })
            }
          >
            <option value="">either</option>
            <option value="up">up</option>
            <option value="down">down</option>
          </select>
        </label>
      )}
      <label>
        Name{' '}
        <input
          maxLength={64}
          placeholder="same as the condition"
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={url.trim() === '' || chainId === null}>
        Register
      </button>
    </form>
  )
}
