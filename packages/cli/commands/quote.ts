/** `assay quote`: one token's price in readable form, or the whole answer as JSON. */
import type { Client, PricedQuote, TokenQuote, UnpricedQuote } from '@assay/sdk'
import { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { addressOrSymbol, namedToken } from '../namedToken.ts'
import { clientOf, type ServiceChoice, whole, withService } from '../options.ts'
import { paint, paintScore } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import { facts, table } from '../terminal/table.ts'
import { duration, measure, percent } from '../terminal/words.ts'

export const quoteCommand = (): Command =>
  withService(new Command('quote'))
    .description('show the price of a token and its evidence; exit code 3 if it has none')
    .argument('<chain>', 'chain id', whole)
    .argument('<token>', 'token address, or its symbol', addressOrSymbol)
    .option('--wait', 'wait for the answer while the service is still looking for pools')
    .action(printQuote)

type Options = ServiceChoice & { readonly wait?: boolean }

/** The first evaluation of a token takes seconds; on a slow endpoint a minute. */
const PATIENCE_MS = 120_000

async function printQuote(chain: number, token: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const path = { chain_id: chain, token_address: await namedToken(client, chain, token) }
  const quote = options.wait === true ? await settledQuote(client, path) : await client.quoteToken(path)
  if (quote.state !== 'PRICED') process.exitCode = EXIT.absent
  print(options, quote, () => textOf(quote))
}

async function settledQuote(client: Client, path: Parameters<Client['quoteToken']>[0]): Promise<TokenQuote> {
  const progress = new Progress('Looking for pools').tick()
  const untilMs = performance.now() + PATIENCE_MS
  try {
    for (;;) {
      const quote = await client.quoteToken(path)
      if (quote.state !== 'PENDING' || performance.now() > untilMs) return quote
      progress.detail(quote.stage.toLowerCase())
      await new Promise(resolve => setTimeout(resolve, quote.retry_after_ms))
    }
  } finally {
    progress.end()
  }
}

function textOf(quote: TokenQuote): string {
  if (quote.state === 'PRICED') return pricedText(quote)
  if (quote.state === 'PENDING')
    return `pending: ${quote.stage.toLowerCase()}; ask again in ${Math.ceil(quote.retry_after_ms / 1000)} s, or wait for it with --wait`
  return unpricedText(quote)
}

function unpricedText({ reason, last_priced: last, as_of, candidates }: UnpricedQuote): string {
  return [
    `${paint('red', 'unpriced')}: ${reason}, block ${as_of.block_number}, ${duration(Date.now() - as_of.block_time_ms)} ago`,
    ...(last === undefined || last === null
      ? []
      : [
          `last priced ${last.price_usd.display} USD at score ${last.score}, ${duration(Date.now() - last.at_ms)} ago`,
        ]),
    ...(candidates.length === 0 ? [] : [candidateTable(candidates)]),
  ].join('\n')
}

/** The routes and pools closest to a price, the rule each failed, the value it has and the value the rule requires. */
const candidateTable = (candidates: UnpricedQuote['candidates']): string =>
  table(
    ['Nearest', 'Failed by', 'Has', 'Needs'].map(title => ({ title })),
    candidates.map(({ route_id, rule, actual, required }) => [
      route_id === '' ? '–' : route_id,
      rule,
      actual === null ? '–' : measure(actual),
      required === null ? '–' : measure(required),
    ]),
  )

function pricedText(quote: PricedQuote): string {
  const { price_usd, confidence, as_of, change, support } = quote
  const { score, label, caps } = confidence
  const bps = (value: number | null) => (value === null ? '–' : percent(value))
  return `${paint('bold', `${price_usd.display} USD`)}\n${facts([
    [
      'confidence',
      `${paintScore(score, `${score} (${label})`)}${caps.length === 0 ? '' : `, caps ${caps.map(({ code, cap }) => `${code} ≤ ${cap}`).join(', ')}`}`,
    ],
    change === null ? null : ['change', `${bps(change.h1_bps)} in 1 h, ${bps(change.h24_bps)} in 24 h`],
    support === null ? null : ['routes', `${support.accepted} accepted, ${support.rejected} rejected`],
    ['block', `${as_of.block_number}, ${duration(Date.now() - as_of.block_time_ms)} ago`],
    ['route', quote.selected?.route_id ?? 'none: its own feed'],
  ])}`
}
