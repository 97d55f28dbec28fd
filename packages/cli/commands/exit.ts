/** `assay exit`: the proceeds of selling a token, with the distance from its price. */
import type { Exit } from '@assay/sdk'
import { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { addressOrSymbol, namedToken } from '../namedToken.ts'
import { clientOf, type ServiceChoice, whole, withService } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'
import { dollars, percent } from '../terminal/words.ts'

type Choice = ServiceChoice & { readonly usd?: string; readonly amount?: string }

export const exitCommand = (): Command =>
  withService(new Command('exit'))
    .description('show what sales of a token would pay; exit code 3 if it has no price')
    .argument('<chain>', 'chain id', whole)
    .argument('<token>', 'token address, or its symbol', addressOrSymbol)
    .option('--usd <sizes>', 'sizes in dollars, such as 100,1000,10000')
    .option('--amount <sizes>', 'sizes in the smallest units of the token')
    .action(printExit)

async function printExit(chain: number, token: string, { usd, amount, ...options }: Choice): Promise<void> {
  const sizes = { ...(usd === undefined ? {} : { usd }), ...(amount === undefined ? {} : { amount }) }
  const client = clientOf(options)
  const token_address = await namedToken(client, chain, token)
  const answer = await client.fetchExit({ chain_id: chain, token_address, ...sizes })
  if ('state' in answer) {
    process.exitCode = EXIT.absent
    return print(options, answer, () => `pending: ask again in ${Math.ceil(answer.retry_after_ms / 1000)} s`)
  }
  print(options, answer, () => textOf(answer))
}

function textOf({ price_usd, confidence, sales, largest }: Exit): string {
  const rows = sales.map(sale => [
    sale.asked_microusd === null ? `${sale.amount} units` : dollars(sale.asked_microusd),
    sale.proceeds_microusd === null ? '–' : dollars(sale.proceeds_microusd),
    sale.distance_bps === null
      ? (WHY[sale.reason ?? ''] ?? sale.reason ?? '')
      : percent(Number(sale.distance_bps)),
    String(sale.split.length),
  ])
  const within = (size: Exit['largest']['bps_100']) => (size === null ? 'none' : dollars(size.worth_microusd))
  return [
    `${paint('bold', `${price_usd.display} USD`)}, confidence ${confidence.score} (${confidence.label})`,
    table(
      [
        { title: 'Sale', align: 'right' },
        { title: 'Pays', align: 'right' },
        { title: 'From the price', align: 'right' },
        { title: 'Routes', align: 'right' },
      ],
      rows,
    ),
    `largest sale within 1%: ${within(largest.bps_100)}, within 5%: ${within(largest.bps_500)}`,
  ].join('\n')
}

const WHY: Readonly<Record<string, string>> = {
  LIQUIDITY_EXCEEDED: 'more than the routes can absorb',
  TOO_SMALL: 'too small to pay anything',
}
