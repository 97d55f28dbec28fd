/** `assay quote`: one token's price as a person reads it, or the whole answer as JSON. */
import type { PricedQuote, TokenQuote } from '@assay/sdk'
import { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { clientOf, type ServiceChoice, tokenAddress, whole, withService } from '../options.ts'
import { paint, paintScore } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { facts } from '../terminal/table.ts'
import { duration, percent } from '../terminal/words.ts'

export const quoteCommand = (): Command =>
  withService(new Command('quote'))
    .description('the price of a token, with what it rests on; exit code 3 when it has none')
    .argument('<chain>', 'chain id', whole)
    .argument('<token>', 'token address', tokenAddress)
    .action(printQuote)

async function printQuote(chain: number, token: `0x${string}`, options: ServiceChoice): Promise<void> {
  const quote = await clientOf(options).quoteToken({ chain_id: chain, token_address: token })
  if (quote.state !== 'PRICED') process.exitCode = EXIT.absent
  print(options, quote, () => textOf(quote))
}

function textOf(quote: TokenQuote): string {
  if (quote.state === 'PRICED') return pricedText(quote)
  if (quote.state === 'PENDING')
    return `pending: ${quote.stage.toLowerCase()}; ask again in ${Math.ceil(quote.retry_after_ms / 1000)} s`
  return [
    `${paint('red', 'unpriced')}: ${quote.reason}`,
    ...quote.candidates.map(({ rule, actual, hops }) => {
      const where = hops.length === 0 && actual !== null ? `: ${actual}` : ''
      return `  ${paint('dim', 'nearest failed by')} ${rule}${where}`
    }),
  ].join('\n')
}

function pricedText(quote: PricedQuote): string {
  const { price_usd, confidence, as_of, change, support } = quote
  const { score, label, caps } = confidence
  const bps = (value: number | null) => (value === null ? '–' : percent(value))
  return `${paint('bold', `${price_usd.display} USD`)}\n${facts([
    [
      'confidence',
      `${paintScore(score, `${score} (${label})`)}${caps.length === 0 ? '' : `, held by ${caps.map(({ code, cap }) => `${code} ≤ ${cap}`).join(', ')}`}`,
    ],
    change === null ? null : ['change', `${bps(change.h1_bps)} in 1 h, ${bps(change.h24_bps)} in 24 h`],
    support === null ? null : ['routes', `${support.accepted} accepted, ${support.rejected} rejected`],
    ['block', `${as_of.block_number}, ${duration(Date.now() - as_of.block_time_ms)} ago`],
    ['route', quote.selected?.route_id ?? 'none: its own feed'],
  ])}`
}
