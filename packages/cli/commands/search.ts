/**
 * `assay search`: everything known under an address on any chain, or the tokens whose symbol or name contains the
 * text.
 */
import type { Client, SearchResult, TokenList } from '@assay/sdk'
import { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { tokensOf } from '../namedToken.ts'
import { clientOf, type ServiceChoice, withService } from '../options.ts'
import { paint, paintScore } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'
import { price } from '../terminal/words.ts'

type Token = TokenList['tokens'][number]

export const searchCommand = (): Command =>
  withService(new Command('search'))
    .description(
      'find an address on every chain, or tokens by symbol or name; exit code 3 if nothing is found',
    )
    .argument('<text>', 'an address, or a part of a symbol or name')
    .action(search)

async function search(text: string, options: ServiceChoice): Promise<void> {
  const client = clientOf(options)
  const found = text.startsWith('0x')
    ? await client.search({ address: text as `0x${string}` })
    : await byName(client, text)
  const isEmpty = found.tokens.length === 0 && found.pools.length === 0
  if (isEmpty) process.exitCode = EXIT.absent
  print(options, found, () => (isEmpty ? `nothing is known as ${text}` : textOf(found)))
}

/** The API finds addresses; symbols and names are not unique, and are searched here. */
async function byName(client: Client, text: string): Promise<SearchResult> {
  const wanted = text.toLowerCase()
  const { chains } = await client.fetchChains()
  const tokens: Token[] = []
  for (const { chain_id } of chains) {
    tokens.push(
      ...(await tokensOf(client, chain_id)).filter(({ symbol, name }) =>
        [symbol, name].some(each => each?.toLowerCase().includes(wanted) === true),
      ),
    )
  }
  const ids = new Set(tokens.map(({ chain_id }) => chain_id))
  return { chains: chains.filter(({ chain_id }) => ids.has(chain_id)), tokens, pools: [] }
}

function textOf({ tokens, pools }: SearchResult): string {
  const parts: string[] = []
  if (tokens.length > 0)
    parts.push(
      table(
        [
          { title: 'Chain', align: 'right' },
          { title: 'Token' },
          { title: 'Symbol' },
          { title: 'Price', align: 'right' },
          { title: 'Score', align: 'right' },
        ],
        tokens.map(token => [
          String(token.chain_id),
          token.token_address,
          token.symbol ?? '–',
          ...priceOf(token),
        ]),
      ),
    )
  if (pools.length > 0)
    parts.push(
      table(
        [
          { title: 'Chain', align: 'right' },
          { title: 'Pool' },
          { title: 'Pair' },
          { title: 'Deployment' },
          { title: 'Score', align: 'right' },
        ],
        pools.map(pool => [
          String(pool.chain_id),
          pool.pool_address,
          `${pool.token0.symbol ?? '–'}/${pool.token1.symbol ?? '–'}`,
          pool.deployment_id,
          pool.state === null ? '–' : paintScore(pool.state.score, String(pool.state.score)),
        ]),
      ),
    )
  return parts.join('\n\n')
}

function priceOf({ price: state }: Token): [string, string] {
  if (state === null) return [paint('dim', 'pending'), '–']
  if (state.state === 'UNPRICED') return [paint('dim', state.reason), '–']
  const { score } = state.confidence
  return [price(state.price_usd), paintScore(score, String(score))]
}
