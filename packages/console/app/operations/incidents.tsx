/** Incidents in a local world: a button for each kind, and the outcome of those that were caused. */
import type { CausedIncident, IncidentList } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { useAnswer, useLooks } from '../answer.ts'
import { chainName, clockTime, count, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { Card } from '../parts/card.tsx'
import { ChainChoice } from '../parts/chainChoice.tsx'
import { Copyable } from '../parts/copy.tsx'
import { ErrorNote } from '../parts/note.tsx'
import { hrefOf } from '../place.ts'
import { useAttempt } from './attempt.ts'

type Props = { readonly live: Live; readonly onChanged: () => void }
type Incident = IncidentList['incidents'][number]

/** The polling interval while an incident waits for its block. */
const LOOK_MS = 1000

export function Incidents({ live, onChanged }: Props) {
  const { chains } = useLive(live)
  const { admin } = live.client
  const [chosen, setChosen] = useState<number | null>(null)
  const [token, setToken] = useState('')
  const [depth, setDepth] = useState('')
  const [fault, attempt] = useAttempt()
  const { value, failure, reload } = useAnswer('incidents', 0, signal => admin.fetchIncidents({ signal }))
  const isRunning = value?.caused.some(({ status }) => status === 'RUNNING') ?? false
  useLooks(isRunning, LOOK_MS, reload)
  const chainId = chosen ?? [...chains.keys()][0] ?? null
  if (value === null) return <ErrorNote failure={failure} onRetry={reload} />
  if (value.incidents.length === 0)
    return [...chains.values()].some(({ chain }) => chain.name !== chainName(chain.name)) ? (
      <FromTerminal />
    ) : null
  const isBusy = value.caused.some(each => each.status === 'RUNNING' && each.chain_id === chainId)
  const cause = ({ name }: Incident, end: boolean) => {
    if (chainId === null) return
    const wish = {
      name,
      chain_id: chainId,
      end,
      ...(token === '' ? {} : { token }),
      ...(name === 'reorg' && depth !== '' ? { depth: Number(depth) } : {}),
    }
    attempt(admin.causeIncident(wish), () => {
      reload()
      onChanged()
    })
  }
  return (
    <Card
      name="Incidents"
      beside={
        <ChainChoice
          live={live}
          about="Chain it happens on"
          chosen={chainId}
          onChoose={chain => {
            setChosen(chain)
            setToken('')
          }}
        />
      }
    >
      <p class="muted">
        These chains are a local world: cause an incident, and watch what happens to the prices.
      </p>
      <p class="tools bare">
        <label>
          Token{' '}
          <select value={token} onChange={event => setToken(event.currentTarget.value)}>
            <option value="">a suitable one</option>
            {tokensOf(live, chainId).map(symbol => (
              <option key={symbol} value={symbol}>
                {symbol}
              </option>
            ))}
          </select>
        </label>
        <label>
          Reorg depth, in blocks{' '}
          <input
            type="number"
            min={1}
            max={64}
            placeholder="1 to 64"
            value={depth}
            onInput={event => setDepth(event.currentTarget.value)}
          />
        </label>
      </p>
      <ErrorNote failure={fault} />
      <ul class="plain incidents">
        {value.incidents.map(incident => (
          <li key={incident.name}>
            <span class="actions">
              <button type="button" disabled={isBusy} onClick={() => cause(incident, false)}>
                {words(incident.name.replaceAll('-', '_'))}
              </button>
              {incident.has_end && (
                <button
                  type="button"
                  disabled={isBusy}
                  aria-label={`End ${incident.name}`}
                  onClick={() => cause(incident, true)}
                >
                  End
                </button>
              )}
            </span>
            <span>{incident.about}</span>
          </li>
        ))}
      </ul>
      {value.caused.length > 0 && (
        <section aria-label="What was caused" aria-live="polite">
          <h3>What was caused</h3>
          <ul class="plain caused">
            {value.caused.map(each => (
              <Caused key={`${each.at_ms} ${each.chain_id} ${each.name}`} live={live} caused={each} />
            ))}
          </ul>
        </section>
      )}
    </Card>
  )
}

/** Tokens that an incident can affect, by symbol. */
const tokensOf = (live: Live, chainId: number | null): readonly string[] =>
  [...live.rows.values()]
    .filter(({ token }) => token.chain_id === chainId && token.role === 'TOKEN')
    .flatMap(({ token }) => token.symbol ?? [])
    .sort()

const KINDS: Readonly<Record<string, string>> = { DONE: 'ok', FAILED: 'bad' }

const Caused = ({ live, caused }: { readonly live: Live; readonly caused: CausedIncident }) => (
  <li>
    <span class="number muted">{clockTime(caused.at_ms)}</span>{' '}
    <span class={`tag ${KINDS[caused.status] ?? 'busy'}`}>
      {caused.status === 'RUNNING' ? 'Waiting for a block' : words(caused.status)}
    </span>{' '}
    {live.chainName(caused.chain_id)}
    {caused.block !== null && `, block ${count(caused.block.number)}`}
    {`: ${caused.what ?? (caused.end ? `${caused.name} ends` : caused.name)}`}
    {caused.pools.map((pool, at) => (
      <span key={pool}>
        {at === 0 ? '; ' : ', '}
        <a href={hrefOf.pool(caused.chain_id, pool)}>pool{caused.pools.length > 1 ? ` ${at + 1}` : ''}</a>
      </span>
    ))}
  </li>
)

/** A world in a separate process is controlled from there. */
const FromTerminal = () => (
  <Card name="Incidents">
    <p class="muted">
      These chains are a local world that runs in another process. Cause its incidents from a terminal:
    </p>
    <Copyable text="npm run assay -- world incidents" what="the command that lists incidents" />
  </Card>
)
