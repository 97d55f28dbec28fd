/**
 * `assay verify`: recomputes a token's quote from its own evidence, and checks it against a node of the caller's
 * choice.
 */
import type { Client, UnpricedQuote, Verification } from '@assay/sdk'
import { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { addressOrSymbol, namedToken } from '../namedToken.ts'
import { clientOf, type ServiceChoice, whole, withService } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'

type Options = ServiceChoice & { readonly rpc?: string }

export const verifyCommand = (): Command =>
  withService(new Command('verify'))
    .description('recompute the price of a token from its evidence; exit code 1 if a number differs')
    .argument('<chain>', 'chain id', whole)
    .argument('<token>', 'token address, or its symbol', addressOrSymbol)
    .option('--rpc <url>', 'a node of your choice, to check the evidence against')
    .action(verifyQuote)

/** More would hide the first: one wrong number makes the numbers derived from it differ too. */
const MAX_SHOWN = 20

/**
 * Exit code 0: the quote verifies. 1: it does not. 3: there is no price to verify, or it is withheld for a valid
 * reason.
 */
async function verifyQuote(chain: number, token: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const token_address = await namedToken(client, chain, token)
  const quote = await client.quoteToken({ chain_id: chain, token_address })
  if (quote.state === 'UNPRICED' && quote.presented === true) return verifyPresented(client, quote, options)
  if (quote.state !== 'PRICED') {
    process.exitCode = EXIT.absent
    const why = quote.state === 'PENDING' ? quote.stage : quote.reason
    print(
      options,
      { state: quote.state, reason: why, verified: null },
      () => `${quote.state.toLowerCase()}: ${why}; there is no price to verify`,
    )
    return
  }
  const { verify } = await import('@assay/sdk/verify')
  const verification = await verify(quote, {
    policy: await client.fetchPolicy(quote.policy_version),
    ...(options.rpc === undefined ? {} : { rpc: options.rpc }),
  })
  if (!verification.verified) process.exitCode = EXIT.failed
  const price = `${quote.price_usd.display} USD, confidence ${quote.confidence.score}`
  print(options, verification, () => textOf(price, verification, options.rpc !== undefined))
}

/** The stored record, then the overlay: whether there is a reason to withhold the price. */
async function verifyPresented(client: Client, quote: UnpricedQuote, options: Options): Promise<void> {
  const { chain_id, token: token_address, as_of, reason } = quote
  const { verify } = await import('@assay/sdk/verify')
  const verification = await verify(quote, {
    policy: await client.fetchPolicy(quote.policy_version),
    history: await client.fetchHistory({ chain_id, token_address, at_sequence: as_of.stream_sequence }),
  })
  process.exitCode = verification.verified ? EXIT.absent : EXIT.failed
  const last = quote.last_priced?.price_usd.display
  const subject = `unpriced: ${reason}, presented over record ${as_of.stream_sequence}`
  const price = last === undefined ? subject : `${subject} of ${last} USD`
  print(options, verification, () => textOf(price, verification, false))
}

function textOf(price: string, verification: Verification, hasNode: boolean): string {
  const { verified, differences, checks, unchecked } = verification
  const by = hasNode ? 'from its own evidence and your node' : 'from its own evidence'
  const verdict = verified ? paint('green', 'verified') : paint('red', 'DOES NOT VERIFY')
  const lines = [`${price}: ${verdict}, ${checks} numbers ${by}`]
  for (const { path, found, expected, from } of differences.slice(0, MAX_SHOWN)) {
    lines.push(`  ${path}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`)
    if (from.length > 0) lines.push(`    from ${from.slice(0, 6).join(', ')}`)
  }
  if (differences.length > MAX_SHOWN) lines.push(`  … and ${differences.length - MAX_SHOWN} more`)
  return [...lines, ...unchecked.map(each => `  not checked: ${each}`)].join('\n')
}
