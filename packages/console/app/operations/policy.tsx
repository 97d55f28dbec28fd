/** The policy in force, overrides for it, and a preview of their effect. */
import type { CompactState, PolicyDiff } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { useAnswer } from '../answer.ts'
import { count, price, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { Copyable } from '../parts/copy.tsx'
import { ErrorNote, Loading } from '../parts/note.tsx'
import { Score } from '../parts/score.tsx'
import { Table } from '../parts/table.tsx'
import { hrefOf } from '../place.ts'
import { useAttempt } from './attempt.ts'

type Props = { readonly live: Live; readonly onChanged: () => void }
type Overrides = Readonly<Record<string, unknown>>

/** The most changes listed; the total is always shown. */
const LISTED = 100

export function PolicyEditor({ live, onChanged }: Props) {
  const { admin } = live.client
  const [text, setText] = useState('{\n  "min_depth_usd": 50\n}')
  const [diff, setDiff] = useState<{ readonly text: string; readonly diff: PolicyDiff } | null>(null)
  const [fault, attempt] = useAttempt()
  const [said, setSaid] = useState('')
  const { value, failure, reload } = useAnswer('policy', 0, signal => admin.fetchPolicy({ signal }))
  const run = (work: (overrides: Overrides) => Promise<void>) => {
    setSaid('')
    attempt(Promise.resolve(text).then(overridesIn).then(work))
  }
  const isTried = diff !== null && diff.text === text
  return (
    <section class="card" aria-label="Policy">
      <header class="tools bare">
        <h2>Policy</h2>
        {value !== null && <Copyable text={value.policy_version} what="policy version" />}
      </header>
      <ErrorNote failure={failure} onRetry={reload} />
      {value === null && failure === null ? (
        <Loading what="the policy" />
      ) : (
        <div class="columns">
          <div>
            <label for="overrides">Overrides of the configuration; an empty object removes them all</label>
            <textarea
              id="overrides"
              rows={8}
              spellcheck={false}
              value={text}
              onInput={event => setText(event.currentTarget.value)}
            />
            <div class="tools bare">
              <button
                type="button"
                onClick={() =>
                  run(async overrides => setDiff({ text, diff: await admin.tryPolicy(overrides) }))
                }
              >
                Dry run
              </button>
              <button
                type="button"
                class="primary"
                disabled={!isTried}
                title={isTried ? '' : 'Run a dry run of these overrides first'}
                onClick={() =>
                  run(async overrides => {
                    const { policy_version } = await admin.setPolicy(overrides)
                    setSaid(`In force: ${policy_version}`)
                    setDiff(null)
                    reload()
                    onChanged()
                  })
                }
              >
                Put in force
              </button>
              <span role="status">{said}</span>
            </div>
            <ErrorNote failure={fault} />
          </div>
          {value !== null && (
            <details>
              <summary>The policy in force</summary>
              <pre class="json" tabIndex={0}>
                {JSON.stringify(value.policy, null, 2)}
              </pre>
            </details>
          )}
        </div>
      )}
      {isTried && <Diff live={live} diff={diff.diff} />}
    </section>
  )
}

function overridesIn(text: string): Overrides {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (failure) {
    throw new Error(`The overrides are not JSON: ${(failure as Error).message}`, { cause: failure })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Overrides
  throw new Error('The overrides are not a JSON object; expected one such as {"min_depth_usd": 100}.')
}

function Diff({ live, diff }: { readonly live: Live; readonly diff: PolicyDiff }) {
  useLive(live)
  if (diff.changes.length === 0) return <p role="status">Dry run: no token would change.</p>
  return (
    <>
      <p role="status">
        Dry run: {count(diff.changes.length)} {diff.changes.length === 1 ? 'token' : 'tokens'} would change.
      </p>
      <Table about="What would change" columns={['Token', ['Chain', 'wide'], 'Now', 'Then']} class="diff">
        {diff.changes.slice(0, LISTED).map(({ chain_id, token_address, before, after }) => (
          <tr key={`${chain_id}/${token_address}`}>
            <td>
              <a href={hrefOf.token(chain_id, token_address)}>{live.symbol(chain_id, token_address)}</a>
            </td>
            <td class="wide muted">{live.chainName(chain_id)}</td>
            <td class="number">
              <State state={before} />
            </td>
            <td class="number">
              {isSameShown(before, after) ? (
                <span class="muted">same price and score, other evidence</span>
              ) : (
                <State state={after} />
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

const isSameShown = (before: CompactState | null, after: CompactState | null): boolean =>
  before?.state === 'PRICED' &&
  after?.state === 'PRICED' &&
  before.confidence.score === after.confidence.score &&
  price(before.price_usd) === price(after.price_usd)

function State({ state }: { readonly state: CompactState | null }) {
  if (state === null) return <>–</>
  if (state.state === 'UNPRICED') return <span class="muted">{words(state.reason)}</span>
  return (
    <>
      {price(state.price_usd)} <Score score={state.confidence.score} />
    </>
  )
}
