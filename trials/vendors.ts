/**
 * `npm run test:vendors`: CoinGecko's own MCP server, unchanged, against a running service on a local chain, for
 * every endpoint in its shapes. The server runs an agent's code in Deno, and requires a package outside npm's
 * registry and 160 MB of others; so it is installed into a temporary folder, with that one package from the registry.
 * Prints one line per call and a last line `N passed, N failed`.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { planWith } from '../packages/server/endToEnd/testing/plan.ts'
import { roomyClient } from '../packages/server/endToEnd/testing/roomy.ts'
import { startTestChain } from '../packages/server/endToEnd/testing/testChain.ts'
import { startTestService } from '../packages/server/endToEnd/testing/testService.ts'
import { McpProcess } from './vendors/mcpProcess.ts'
import { commandLine } from './commandLine.ts'

commandLine('npm run test:vendors', {})

const PACKAGES = {
  private: true,
  dependencies: { '@coingecko/coingecko-mcp': '8.2.0', deno: '2.9.6' },
  // It requires a release on GitHub; only a tool that reshapes responses of other transports uses it.
  overrides: { 'jq-web': '0.6.2' },
}

function install(folder: string): string {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(PACKAGES))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    stdio: 'ignore',
  })
  return folder
}

/** Code that an agent would write, by endpoint, and what its result must contain. */
function callsOn(
  token: string,
  pool: string,
  price: string,
): readonly (readonly [code: string, holds: string])[] {
  const network = `{ network: 'eth' }`
  return [
    ['client.ping.get()', 'gecko_says'],
    ['client.assetPlatforms.get()', 'ethereum'],
    ['client.simple.supportedVsCurrencies.get()', 'usd'],
    ['client.onchain.networks.get()', '"eth"'],
    [`client.onchain.networks.dexes.get('eth')`, 'uniswap-v2'],
    [
      `client.onchain.simple.networks.tokenPrice.getAddresses('${token}', { network: 'eth', include_24hr_vol: true })`,
      price,
    ],
    [
      `client.simple.tokenPrice.getID('ethereum', { contract_addresses: '${token}', vs_currencies: 'usd' })`,
      price.slice(0, 12),
    ],
    [`client.onchain.networks.tokens.getAddress('${token}', ${network})`, price],
    [`client.onchain.networks.tokens.multi.getAddresses('${token}', ${network})`, price],
    [`client.onchain.networks.pools.getAddress('${pool}', ${network})`, price],
    [`client.onchain.networks.pools.multi.getAddresses('${pool}', ${network})`, price],
    [`client.onchain.networks.tokens.pools.get('${token}', ${network})`, price],
    [`client.onchain.search.pools.get({ query: 'LARK', network: 'eth' })`, price],
    [
      `client.onchain.networks.pools.ohlcv.getTimeframe('minute', { network: 'eth', pool_address: '${pool}' })`,
      'ohlcv_list',
    ],
    [
      `client.onchain.networks.tokens.ohlcv.getTimeframe('hour', { network: 'eth', token_address: '${token}' })`,
      'ohlcv_list',
    ],
    [`client.coins.list.get().catch(failure => failure.status)`, '404'],
  ]
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-vendors-'))
  try {
    console.log('installing CoinGecko’s MCP server …')
    install(folder)
    const chain = await startTestChain(planWith())
    const service = await startTestService(chain, { tokens: ['LARK'] })
    try {
      await roomyClient(service)
      await service.untilWell()
      const [token, pool] = [chain.token('LARK'), chain.pool('uniswap-v2', 'USDC', 'LARK')]
      const row = await service.store.readToken(1, token)
      const { price_usd } = JSON.parse(row?.price ?? '') as { price_usd: { display: string } }
      const mcp = await McpProcess.open(folder, {
        COINGECKO_BASE_URL: `${service.url}/compat/coingecko`,
        COINGECKO_PRO_API_KEY: await service.key(['read'], 'roomy'),
      })
      let failed = 0
      const calls = callsOn(token, pool, price_usd.display)
      for (const [code, holds] of calls) {
        // On a slow machine the chain would otherwise stand still for long enough to lose its prices.
        await service.untilWell()
        const answer = await mcp.execute(`async function run(client) { return await ${code} }`)
        const isGood = answer.includes(holds)
        if (!isGood) failed += 1
        console.log(`${isGood ? 'passed' : 'FAILED'}  ${code}${isGood ? '' : `: ${answer.slice(0, 600)}`}`)
      }
      mcp.close()
      console.log(`\n${calls.length - failed} passed, ${failed} failed`)
      return failed === 0 ? 0 : 1
    } finally {
      await service.close()
      await chain.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
