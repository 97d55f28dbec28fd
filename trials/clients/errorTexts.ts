/** A client's answers to requests that cannot succeed, recorded in the output as a reference for the error handling. */

type Question = { readonly what: string; readonly method: string; readonly params: readonly unknown[] }

const UNKNOWN = `0x${'12'.repeat(32)}`
const FUTURE = '0xffffff'
const IDENTITY = { to: `0x${'4'.padStart(40, '0')}`, data: '0x12' }
/** Init code that reverts without data, run by eth_call. */
const REVERTING = { data: '0x60006000fd' }

const QUESTIONS: readonly Question[] = [
  { what: 'a block of an unknown number', method: 'eth_getBlockByNumber', params: [FUTURE, false] },
  { what: 'a block of an unknown hash', method: 'eth_getBlockByHash', params: [UNKNOWN, false] },
  { what: 'receipts of an unknown hash', method: 'eth_getBlockReceipts', params: [UNKNOWN] },
  { what: 'a receipt of an unknown transaction', method: 'eth_getTransactionReceipt', params: [UNKNOWN] },
  { what: 'a call at an unknown hash', method: 'eth_call', params: [IDENTITY, { blockHash: UNKNOWN }] },
  { what: 'a call at an unknown number', method: 'eth_call', params: [IDENTITY, FUTURE] },
  { what: 'a call that reverts', method: 'eth_call', params: [REVERTING, 'latest'] },
  { what: 'logs of an unknown hash', method: 'eth_getLogs', params: [{ blockHash: UNKNOWN }] },
  { what: 'logs beyond the head', method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: FUTURE }] },
  {
    what: 'logs of a range upside down',
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x5', toBlock: '0x1' }],
  },
  { what: 'an unknown method', method: 'eth_noSuchMethod', params: [] },
  { what: 'a number where a hex string belongs', method: 'eth_getBlockByNumber', params: [5, false] },
]

/** One more than geth's limit. */
const LARGE_BATCH = 1001
/** One byte more than geth's limit. */
const LARGE_BODY = 5 * 1024 * 1024 + 1

export async function errorTexts(url: string): Promise<readonly (readonly [what: string, answer: string])[]> {
  const texts: [string, string][] = []
  for (const { what, method, params } of QUESTIONS)
    texts.push([what, await ask(url, { jsonrpc: '2.0', id: 1, method, params })])
  const batch = Array.from({ length: LARGE_BATCH }, (_, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_chainId',
    params: [],
  }))
  texts.push([`a batch of ${LARGE_BATCH} calls`, await ask(url, batch)])
  const padding = 'x'.repeat(LARGE_BODY)
  texts.push([
    'a request of more than 5 MiB',
    await ask(url, { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [padding] }),
  ])
  return texts
}

async function ask(url: string, body: unknown): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = (await response.text()).trim()
  if (response.status !== 200) return `HTTP ${response.status} ${text}`
  const answer: unknown = JSON.parse(text)
  const [first] = Array.isArray(answer) ? (answer as unknown[]) : [answer]
  const { error, result } = first as { readonly error?: object; readonly result?: unknown }
  return error === undefined ? `result ${JSON.stringify(result)}` : `error ${JSON.stringify(error)}`
}
