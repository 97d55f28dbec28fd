/** The purpose of a call: when an endpoint cannot take all calls, those for blocks go first. */
export type Purpose =
  | 'head'
  | 'block'
  | 'finality'
  | 'state'
  | 'history'
  | 'identity'
  | 'probe'
  | 'sellability'

/** Lower goes first. */
export const RANK: Readonly<Record<Purpose, 0 | 1 | 2 | 3>> = {
  identity: 0,
  head: 0,
  block: 0,
  finality: 1,
  state: 2,
  history: 3,
  probe: 3,
  sellability: 3,
}

const BLOCK_METHODS: ReadonlySet<string> = new Set([
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
  'eth_getLogs',
])

/** The purpose of a call that does not state one. */
export const purposeOf = (method: string): Purpose =>
  method === 'eth_blockNumber' ? 'head' : BLOCK_METHODS.has(method) ? 'block' : 'state'
