/**
 * `npm run test:clients`: the service against a real client, geth, on a private chain with pools and trades. Prints
 * one line per check, the client's answers to requests that cannot succeed, and a last line `N passed, N failed`.
 * When geth is missing and Go is not installed to build it, prints one line and exits with code 1.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHECKS } from './clients/checks.ts'
import { errorTexts } from './clients/errorTexts.ts'
import { Geth, gethBinary } from './clients/geth.ts'
import { Market } from './clients/market.ts'
import { ServedMarket } from './clients/servedMarket.ts'
import { commandLine } from './commandLine.ts'

commandLine('npm run test:clients', {})

async function main(): Promise<number> {
  const geth = await Geth.open(gethBinary())
  const folder = mkdtempSync(join(tmpdir(), 'assay-clients-'))
  try {
    const market = await Market.open('geth', geth.url, geth.wsUrl)
    const version = await market.client.request({ method: 'web3_clientVersion' } as never)
    console.log(`${String(version)}, ${market.chain.seeded.pools.length} pools made`)
    const served = new ServedMarket(market, folder, 'both')
    const httpAlone = new ServedMarket(market, folder, 'http', true)
    await Promise.all([served.start(), httpAlone.start()])
    let failed = 0
    try {
      for (const { name, run } of CHECKS)
        try {
          console.log(`passed  ${name}: ${await run({ geth, served, httpAlone })}`)
        } catch (failure) {
          failed++
          console.log(`FAILED  ${name}: ${(failure as Error).message}`)
        }
    } finally {
      await Promise.all([served.stop(), httpAlone.stop()])
    }
    for (const [what, answer] of await errorTexts(geth.url)) console.log(`answer  ${what}: ${answer}`)
    for (const [warning, times] of served.warnings) console.log(`warned  ${warning} (${times}×)`)
    console.log(`\n${CHECKS.length - failed} passed, ${failed} failed`)
    return failed === 0 ? 0 : 1
  } finally {
    await geth.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

try {
  process.exitCode = await main()
} catch (failure) {
  console.error(`test:clients: ${(failure as Error).message}`)
  process.exitCode = 1
}
