/**
 * `assay decimals confirm`: an operator confirms that a token's decimals have changed; the service reads them once
 * more.
 */
import { Command } from 'commander'
import { addressOrSymbol, namedToken } from '../namedToken.ts'
import { clientOf, type ServiceChoice, whole, withService } from '../options.ts'
import { print } from '../terminal/print.ts'

export function decimalsCommand(): Command {
  const decimals = new Command('decimals').description('handle changed decimals of a token')
  withService(decimals.command('confirm'))
    .description(
      'accept the new decimals of a token at once, if it still returns this number; needs an admin key',
    )
    .argument('<chain>', 'chain id', whole)
    .argument('<token>', 'token address, or its symbol', addressOrSymbol)
    .argument('<decimals>', 'what the token now returns, 0 to 36', whole)
    .action(confirm)
  return decimals
}

async function confirm(
  chain: number,
  token: string,
  decimals: number,
  options: ServiceChoice,
): Promise<void> {
  const client = clientOf(options)
  const token_address = await namedToken(client, chain, token)
  await client.admin.confirmDecimals({ chain_id: chain, token_address }, { decimals })
  print(
    options,
    { chain_id: chain, token_address, decimals, confirmed: true },
    () =>
      `${token_address} has ${decimals} decimals from now on. If that changes its price by more than 100 times, MAGNITUDE_JUMP applies for half an hour.`,
  )
}
