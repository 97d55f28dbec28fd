/** `assay verify`: a token's quote recomputed from its own evidence, and held against a node of the caller's own. */
import { createClient, type Verification, verify } from '@assay/sdk'

type Options = { readonly url: string; readonly key?: string; readonly rpc?: string; readonly json?: boolean }

/** More would bury the first: one untrue number makes others differ that follow from it. */
const MAX_SHOWN = 20

/** Exit code 0: it verifies. 1: it does not, or could not be asked for. 3: there is no price to verify. */
export async function verifyQuote(chain: string, token: string, options: Options): Promise<void> {
  const client = createClient({
    baseUrl: options.url,
    ...(options.key === undefined ? {} : { apiKey: options.key }),
  })
  const quote = await client.quoteToken({ chain_id: Number(chain), token_address: token as `0x${string}` })
  if (quote.state !== 'PRICED') {
    process.exitCode = 3
    const why = quote.state === 'PENDING' ? quote.stage : quote.reason
    if (options.json === true)
      console.log(JSON.stringify({ state: quote.state, reason: why, verified: null }))
    else console.log(`${quote.state.toLowerCase()}: ${why}; there is no price to verify`)
    return
  }
  const verification = await verify(quote, {
    policy: await client.fetchPolicy(quote.policy_version),
    ...(options.rpc === undefined ? {} : { rpc: options.rpc }),
  })
  if (!verification.verified) process.exitCode = 1
  if (options.json === true) console.log(JSON.stringify(verification))
  else
    print(`${quote.price_usd.display} USD, confidence ${quote.confidence.score}`, verification, options.rpc)
}

function print(price: string, verification: Verification, rpc: string | undefined): void {
  const { verified, differences, checks, unchecked } = verification
  const by = rpc === undefined ? 'from its own evidence' : 'from its own evidence and your node'
  console.log(`${price}: ${verified ? 'verified' : 'DOES NOT VERIFY'}, ${checks} numbers ${by}`)
  for (const { path, found, expected, from } of differences.slice(0, MAX_SHOWN)) {
    console.log(`  ${path}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`)
    if (from.length > 0) console.log(`    from ${from.slice(0, 6).join(', ')}`)
  }
  if (differences.length > MAX_SHOWN) console.log(`  … and ${differences.length - MAX_SHOWN} more`)
  for (const each of unchecked) console.log(`  not checked: ${each}`)
}
