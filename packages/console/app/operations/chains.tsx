/** Chains with their endpoints as the service sees them, and the switch that withdraws a chain's prices. */
import { useState } from 'preact/hooks'
import { chainName, count, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { WideCard } from '../parts/card.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote, Loading } from '../parts/note.tsx'
import { HealthTag } from '../parts/status.tsx'
import { Table } from '../parts/table.tsx'
import { useAttempt } from './attempt.ts'

type Props = { readonly live: Live; readonly onChanged: () => void }

export function Chains({ live, onChanged }: Props) {
  const { chains } = useLive(live)
  const [fault, attempt] = useAttempt()
  // The next health record confirms the change; until then the requested state is shown.
  const [asked, setAsked] = useState<ReadonlyMap<number, boolean>>(new Map())
  const set = (chainId: number, isPaused: boolean) => {
    const { admin } = live.client
    const chain = { chain_id: chainId }
    attempt(isPaused ? admin.pauseChain(chain) : admin.resumeChain(chain), () => {
      setAsked(new Map([...asked, [chainId, isPaused]]))
      onChanged()
    })
  }
  // Without a chain that has reported, the columns have no width yet.
  const isLoading = [...chains.values()].every(
    ({ health, status }) => health === null && status === 'resetting',
  )
  if (isLoading)
    return (
      <WideCard name="Chains and endpoints">
        <Loading what="the chains" />
      </WideCard>
    )
  return (
    <WideCard name="Chains and endpoints">
      <ErrorNote failure={fault} />
      <Table
        about="Endpoints"
        columns={[
          'Chain',
          'Health',
          'Endpoint',
          'Status',
          ['Block', 'right'],
          ['Errors', 'right'],
          ['Response', 'right'],
          ['Switch', 'hidden'],
        ]}
      >
        {[...chains.values()].flatMap(({ chain, health }) => {
          const isPaused = health?.reasons.includes('PAUSED') ?? false
          const isAwaited = (asked.get(chain.chain_id) ?? isPaused) !== isPaused
          const word = isAwaited ? (isPaused ? 'Resuming …' : 'Pausing …') : isPaused ? 'Resume' : 'Pause'
          const endpoints = health?.endpoints ?? []
          return (endpoints.length === 0 ? [null] : endpoints).map((endpoint, at) => (
            <tr key={`${chain.chain_id} ${endpoint?.name}`}>
              <td>{at === 0 && chainName(chain.name)}</td>
              <td>
                {at === 0 && (
                  <>
                    <HealthTag health={health} />{' '}
                    <span class="muted">{health?.reasons.map(words).join(', ')}</span>
                  </>
                )}
              </td>
              <td>{endpoint?.name ?? 'none'}</td>
              <td>
                {endpoint !== null && (
                  <span class={`tag ${endpoint.status === 'OK' ? 'ok' : 'bad'}`}>
                    {words(endpoint.status)}
                  </span>
                )}
              </td>
              <td class="right number">
                {endpoint?.head === null || endpoint === null ? '–' : count(endpoint.head)}
              </td>
              <td class="right number">
                {endpoint === null ? '' : `${(endpoint.error_rate * 100).toFixed(1)}%`}
              </td>
              <td class="right number">
                {endpoint?.p50_ms === null || endpoint === null ? '–' : `${endpoint.p50_ms} ms`}
              </td>
              <td class="right">
                {at === 0 &&
                  (isPaused || isAwaited ? (
                    <button
                      type="button"
                      class="small"
                      disabled={isAwaited}
                      aria-label={`${word} ${chainName(chain.name)}`}
                      onClick={() => set(chain.chain_id, !isPaused)}
                    >
                      {word}
                    </button>
                  ) : (
                    <Confirm
                      word={word}
                      about={`${word} ${chainName(chain.name)}`}
                      sure={`Withdraw all prices of ${chainName(chain.name)}`}
                      onSure={() => set(chain.chain_id, true)}
                    />
                  ))}
              </td>
            </tr>
          ))
        })}
      </Table>
    </WideCard>
  )
}
