/** `assay watch`: a chain's token prices as lines, from now on; resumes by itself when the socket drops. */
import { type Client, createClient, type Envelope, type TokenList } from '@assay/sdk'

type Options = { readonly url: string; readonly key?: string; readonly json?: boolean }

export async function watch(chain: string, options: Options): Promise<void> {
  const client = createClient({
    baseUrl: options.url,
    ...(options.key === undefined ? {} : { apiKey: options.key }),
  })
  const stopping = new AbortController()
  process.once('SIGINT', () => stopping.abort())
  const chainId = Number(chain)
  const symbols = await symbolsOf(client, chainId)
  for await (const event of client.follow({ chain_id: chainId, signal: stopping.signal })) {
    if (options.json === true) console.log(JSON.stringify(event))
    else if (event.kind === 'status')
      console.log(`${time()}  ${event.status}${event.reason === null ? '' : `: ${event.reason}`}`)
    else print(event.record, symbols)
  }
}

async function symbolsOf(client: Client, chainId: number): Promise<ReadonlyMap<string, string>> {
  const symbols = new Map<string, string>()
  let cursor: string | null = null
  do {
    const page: TokenList = await client.fetchTokens({
      chain_id: chainId,
      ...(cursor === null ? {} : { cursor }),
    })
    for (const token of page.tokens) symbols.set(token.token_id, token.symbol ?? token.token_address)
    cursor = page.next_cursor
  } while (cursor !== null)
  return symbols
}

function print({ type, payload }: Envelope, symbols: ReadonlyMap<string, string>): void {
  if ((type !== 'PRICE_UPSERT' && type !== 'PRICE_RETRACT') || payload.scope !== 'token') return
  const name = symbols.get(payload.token_id) ?? payload.token_id
  if (type === 'PRICE_RETRACT') console.log(`${time()}  ${name}  retracted: ${payload.reason}`)
  else if (payload.state === 'PRICED')
    console.log(
      `${time()}  ${name}  ${payload.price_usd.display} USD  confidence ${payload.confidence.score}`,
    )
  else console.log(`${time()}  ${name}  unpriced: ${payload.reason}`)
}

const time = (): string => new Date().toISOString().slice(11, 19)
