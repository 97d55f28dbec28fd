/**
 * Requests that an API node cannot answer alone: each goes as a store RPC to the writer of the chain, which may be of
 * the other version. Failures are thrown; only "not right now" is retried, as a client would.
 */
import { AssayError, type Client, createClient, type verify } from '@assay/sdk'
import { CHAIN_ID } from '../../packages/server/endToEnd/testing/plan.ts'
import type { Hex } from '../../packages/server/endToEnd/testing/testChain.ts'
import { until } from '../../packages/server/endToEnd/testing/until.ts'
import type { Fleet, Member } from './fleet.ts'

export type Asker = {
  readonly fleet: Fleet
  readonly key: string
  readonly token: Hex
  readonly pool: Hex
  /** One for every version that a customer may have. */
  readonly verifiers: readonly (typeof verify)[]
  /** A token that was never requested. */
  readonly nextStray: () => Hex
}

/** Differs from the configured policy, but leaves every token its route. */
const OTHER_POLICY = { max_hops: 2 }

const clientAt = ({ key }: Asker, node: Member): Client =>
  createClient({ baseUrl: node.child.url, apiKey: key })

export async function askAll(asker: Asker, node: Member): Promise<void> {
  const { token, pool } = asker
  const client = clientAt(asker, node)
  const at = { chain_id: CHAIN_ID, token_address: token }
  const narrowed = await patiently(`${node.name} has a quote computed`, () =>
    client.quoteToken({ ...at, max_hops: 1, deadline_ms: 10_000 }),
  )
  expect(node, 'a computed quote', narrowed.state === 'PRICED' && narrowed.source === 'COMPUTED', narrowed)
  const looked = await patiently(`${node.name} has a pool looked up`, () =>
    client.quotePool({ chain_id: CHAIN_ID, pool_address: pool, deadline_ms: 10_000 }),
  )
  expect(node, 'the quote of a pool', looked.pool_address === pool, looked)
  await patiently(`${node.name} tries a policy`, () => client.admin.tryPolicy(OTHER_POLICY))
  await patiently(`${node.name} lists back-fills`, () => client.admin.fetchBackfills())
  const quote = await client.quoteToken(at)
  for (const verifier of asker.verifiers) {
    const { verified, differences } = await verifier(quote)
    expect(node, 'a quote that can be verified', verified, differences)
  }
  await enrol(asker, node)
}

/** Enrolled at one node, and known to all. */
async function enrol(asker: Asker, node: Member): Promise<void> {
  const token_address = asker.nextStray()
  const stateAt = async (each: Member) =>
    (await clientAt(asker, each).quoteToken({ chain_id: CHAIN_ID, token_address })).state
  const first = await patiently(`${node.name} enrols a token`, () => stateAt(node))
  expect(node, 'a token on its way in', first === 'PENDING', first)
  for (const each of [node, ...stayingNodes(asker)])
    await until(`the token enrolled by ${node.name} has a price at ${each.name}`, async () => {
      return (await patiently('its state', () => stateAt(each))) === 'PRICED'
    })
}

/** An operator's changes at one node, as they arrive at the others and at the writer. */
export async function operate(asker: Asker, node: Member): Promise<void> {
  const { admin } = clientAt(asker, node)
  const at = { chain_id: CHAIN_ID, token_address: asker.token }
  const before = (await admin.fetchPolicy()).policy_version
  for (const [overrides, expected] of [
    [OTHER_POLICY, null],
    [{}, before],
  ] as const) {
    const { policy_version } = await patiently(`${node.name} sets a policy`, () => admin.setPolicy(overrides))
    if (expected !== null) expect(node, 'the policy of before', policy_version === expected, policy_version)
    for (const each of stayingNodes(asker))
      await until(`a record under the policy of ${node.name} at ${each.name}`, async () => {
        const client = clientAt(asker, each)
        const quote = await client.quoteToken(at)
        const isRecorded = quote.state === 'PRICED' && quote.policy_version === policy_version
        return isRecorded && (await client.admin.fetchPolicy()).policy_version === policy_version
      })
  }
  await admin.pauseChain({ chain_id: CHAIN_ID })
  await untilEverywhere(asker, 'the pause', 'UNPRICED')
  await admin.resumeChain({ chain_id: CHAIN_ID })
  await untilEverywhere(asker, 'the resumption', 'PRICED')
  await patiently(`${node.name} starts a back-fill`, () =>
    admin.startBackfill({ chain_id: CHAIN_ID, from_block: 0 }),
  )
  for (const each of stayingNodes(asker))
    await until(`the back-fill of ${node.name} is done at ${each.name}`, async () => {
      const { backfills } = await clientAt(asker, each).admin.fetchBackfills()
      return backfills.some(({ status }) => status === 'DONE')
    })
}

async function untilEverywhere(asker: Asker, what: string, state: string): Promise<void> {
  for (const each of stayingNodes(asker))
    await until(`${what} at ${each.name}`, async () => {
      const at = { chain_id: CHAIN_ID, token_address: asker.token }
      return (await clientAt(asker, each).quoteToken(at)).state === state
    })
}

const stayingNodes = ({ fleet }: Asker): Member[] => fleet.apis().filter(({ isLeaving }) => !isLeaving)

/** Retries a 503: a writer may have just started. */
const patiently = <Result>(what: string, ask: () => Promise<Result>): Promise<Result> =>
  until(what, () =>
    ask().then(
      result => [result] as const,
      (failure: unknown) => {
        if (failure instanceof AssayError && failure.status === 503) return null
        throw new Error(`${what}: ${String(failure)}`, { cause: failure })
      },
    ),
  ).then(([result]) => result)

function expect(node: Member, what: string, holds: boolean, received: unknown): void {
  if (!holds) throw new Error(`${node.name} should give ${what}, and gave ${JSON.stringify(received)}`)
}
