/** `assay cost`: what it would cost to move the published price of a token, and how long it must be held. */
import type { Cost } from '@assay/sdk'
import { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { addressOrSymbol, namedToken } from '../namedToken.ts'
import { clientOf, type ServiceChoice, whole, withService } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'

export const costCommand = (): Command =>
  withService(new Command('cost'))
    .description('show what it would cost to move the published price of a token; exit code 3 if it has none')
    .argument('<chain>', 'chain id', whole)
    .argument('<token>', 'token address, or its symbol', addressOrSymbol)
    .action(printCost)

async function printCost(chain: number, token: string, options: ServiceChoice): Promise<void> {
  const client = clientOf(options)
  const token_address = await namedToken(client, chain, token)
  const answer = await client.fetchCost({ chain_id: chain, token_address })
  if ('state' in answer) {
    process.exitCode = EXIT.absent
    return print(options, answer, () => `pending: ask again in ${Math.ceil(answer.retry_after_ms / 1000)} s`)
  }
  print(options, answer, () => textOf(answer))
}

function textOf({ price_usd, confidence, least_score, moves }: Cost): string {
  const rows = moves.map(move => [
    `${move.direction === 'UP' ? '+' : '-'}${move.bps / 100}%`,
    move.capital_usd === null ? '–' : dollars(move.capital_usd),
    move.loss_usd_quiet === null
      ? (WHY[move.reason ?? ''] ?? move.reason ?? '')
      : dollars(move.loss_usd_quiet),
    move.loss_usd_arbitraged === null
      ? (WHY[move.arbitraged_reason ?? ''] ?? '')
      : dollars(move.loss_usd_arbitraged),
    move.hold_ms === null ? '' : `${Math.ceil(move.hold_ms / 1000)} s`,
    move.plan.length === 0 ? '' : String(move.plan.length),
  ])
  return [
    `${paint('bold', `${price_usd.display} USD`)}, confidence ${confidence.score} (${confidence.label})`,
    table(
      [
        { title: 'Move' },
        { title: 'Put in', align: 'right' },
        { title: 'Lost if quiet', align: 'right' },
        { title: 'Lost to arbitrage', align: 'right' },
        { title: 'Held', align: 'right' },
        { title: 'Pools', align: 'right' },
      ],
      rows,
    ),
    `the cheapest plans found for a score of ${least_score} or more; cheaper ones may exist`,
  ].join('\n')
}

const WHY: Readonly<Record<string, string>> = {
  LOW_SCORE: 'score too low',
  NOT_FOUND: 'no plan found',
  NOT_BELIEVED: 'not believed',
}

/** Dollars and cents, rounded up: less might not be enough. */
function dollars(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.')
  const digits = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
  const cents = (digits + 9_999n) / 10_000n
  return `$${(cents / 100n).toLocaleString('en-US')}.${(cents % 100n).toString().padStart(2, '0')}`
}
