/** A chain that fails again at every start: the other one continues, and the API reports the state of each. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { changing, type RpcProxy, startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { type ChildService, clientOf, freePort, startChildService } from './testing/childService.ts'
import { CHAIN_ID } from './testing/plan.ts'
import { storedTip } from './testing/storedTip.ts'
import { startTestChain, type TestChain } from './testing/testChain.ts'
import { writeConfig } from './testing/testService.ts'
import { until } from './testing/until.ts'

const SECOND = 4242
/** Enough for the second chain's thread to fail several times: its supervisor waits half a second, one, two. */
const BLOCKS = 10
const PACE_MS = 400

let chain: TestChain
let proxy: RpcProxy
let child: ChildService | null = null
let config: string
beforeAll(async () => {
  chain = await startTestChain()
  // The same node under another name: a second chain for the price of one.
  proxy = await startRpcProxy(
    chain.world.url,
    changing('eth_chainId', () => `0x${SECOND.toString(16)}`),
  )
  config = writeConfig(chain, { name: 'two', port: await freePort() })
  const document = parse(readFileSync(config, 'utf8')) as { chains: Record<string, unknown>[] }
  const [first] = document.chains
  const endpoints = [{ name: 'renamed', url: proxy.url }]
  document.chains.push({ ...first, chain_id: SECOND, name: 'second', endpoints })
  writeFileSync(config, stringify(document))
})
afterAll(async () => {
  await child?.kill()
  await proxy?.close()
  await chain?.close()
})

const path = () => join(chain.folder, 'two.db')

/** Its stored position is changed behind its back: its next commit conflicts, and no start can read its state. */
function damage(chainId: number): void {
  const database = new DatabaseSync(path(), { timeout: 60_000 })
  database.exec(`
    BEGIN IMMEDIATE;
    UPDATE position SET step = step + 100 WHERE chain_id = ${chainId};
    UPDATE entity SET text = 'nothing an engine wrote' WHERE chain_id = ${chainId};
    COMMIT`)
  database.close()
}

it('never stops another chain, and its health turns to unavailable', async () => {
  child = await startChildService(config)
  const client = await clientOf(config, child.url, 'two')
  // Polling uses the quota of another key.
  const waiting = await clientOf(config, child.url, 'waiting')
  const health = (chainId: number) => waiting.fetchHealth({ chain_id: chainId }).catch(() => null)
  for (const chainId of [CHAIN_ID, SECOND])
    await chain.untilMining(
      `chain ${chainId} lives`,
      async () => (await health(chainId))?.status === 'HEALTHY',
    )

  const lark = chain.token('LARK')
  const quote = (reader: typeof client) => reader.quoteToken({ chain_id: CHAIN_ID, token_address: lark })
  await chain.untilMining(
    'there is a price to lose',
    async () => (await quote(waiting).catch(() => null))?.state === 'PRICED',
  )
  damage(SECOND)
  const { number: damagedAt } = await chain.mine()
  for (let mined = 0; mined < BLOCKS; mined++) {
    const { number } = await chain.mine()
    await pause(PACE_MS)
    await until(`block ${number} of the sound chain`, () => storedTip(path(), CHAIN_ID) >= number)
    expect(await quote(client)).toMatchObject({ state: 'PRICED' })
  }
  expect(storedTip(path(), SECOND)).toBeLessThanOrEqual(damagedAt)

  await chain.untilMining('the failing chain is reported silent', async () => {
    const reported = await health(SECOND)
    return reported?.status === 'UNAVAILABLE' && reported.reasons.includes('WORKER_SILENT')
  })
  await chain.untilMining('the sound chain well', async () => (await health(CHAIN_ID))?.status === 'HEALTHY')
  expect(await child.stop()).toBe(0)
})
