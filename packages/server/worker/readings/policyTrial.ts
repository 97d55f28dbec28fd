/** Tries a policy on a copy of the state: the states its tokens would have if it were in force now. */
import {
  decodeState,
  encodeEntity,
  type EntityKey,
  entityKeys,
  type Input,
  type Policy,
  type State,
  step,
} from '@assay/engine'

type TokenState = { readonly token: string; readonly state: string }

/** Only differences due to the policy: changes due to elapsed time are the same under both. */
export function tokensUnder(state: State, policy: Policy, atMs: Input['atMs']): TokenState[] {
  const asIs = statesUnder(state, state.policyView.policy, atMs)
  return [...statesUnder(state, policy, atMs)]
    .filter(([token, said]) => asIs.get(token) !== said)
    .map(([token, said]) => ({ token, state: said }))
}

/** The states of tokens that would change from their last record. */
function statesUnder(state: State, policy: Policy, atMs: Input['atMs']): ReadonlyMap<string, string> {
  const { records } = step(copyOf(state), { kind: 'policy', policy, atMs })
  const said = new Map<string, string>()
  for (const { type, payload } of records) {
    if ((type !== 'PRICE_UPSERT' && type !== 'PRICE_RETRACT') || payload.scope !== 'token') continue
    const { scope: _s, chain_id: _c, token_id: id, record_id: _r, ...rest } = payload
    said.set(`0x${id.slice(26)}`, JSON.stringify('current' in rest ? rest.current : rest))
  }
  return said
}

/** Goes through the text that a restart reads, so the copy shares nothing with the original. */
function copyOf(state: State): State {
  const entities = [...entityKeys(state)].flatMap((key): [EntityKey, string][] => {
    const text = encodeEntity(state, key)
    return text === null ? [] : [[key, text]]
  })
  return decodeState(state.setup, entities)
}
