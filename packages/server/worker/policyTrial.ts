/** A policy tried on a copy of the state: what its tokens would say, had it been in force now. */
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

export function tokensUnder(
  state: State,
  policy: Policy,
  atMs: Input['atMs'],
): { readonly token: string; readonly state: string }[] {
  const { records } = step(copyOf(state), { kind: 'policy', policy, atMs })
  return records.flatMap(({ type, payload }) => {
    if (type !== 'PRICE_UPSERT' && type !== 'PRICE_RETRACT') return []
    if (payload.scope !== 'token') return []
    const { scope: _s, chain_id: _c, token_id: id, record_id: _r, ...rest } = payload
    const said = 'current' in rest ? rest.current : rest
    return [{ token: `0x${id.slice(26)}`, state: JSON.stringify(said) }]
  })
}

/** Through the same text a restart reads: a copy that shares nothing with what it was made of. */
function copyOf(state: State): State {
  const entities = [...entityKeys(state)].flatMap((key): [EntityKey, string][] => {
    const text = encodeEntity(state, key)
    return text === null ? [] : [[key, text]]
  })
  return decodeState(state.setup, entities)
}
