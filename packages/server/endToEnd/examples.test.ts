import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { CHAIN_ID } from './testing/plan.ts'
import { idOf } from './testing/record.ts'
import { chain, serveChain, service } from './testing/servedChain.ts'
import { until } from './testing/until.ts'

/** Another Node than that of the tests: `npm run test:node22` names one. */
const NODE = process.env['ASSAY_EXAMPLE_NODE'] ?? process.execPath
const running: ChildProcess[] = []
serveChain()
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null) continue
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
})

async function run(name: string, ...args: readonly string[]) {
  const file = fileURLToPath(new URL(`../../sdk/examples/${name}.ts`, import.meta.url))
  const env = { ...process.env, ASSAY_URL: service.url, ASSAY_KEY: await service.key() }
  const child = spawn(NODE, [file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  const example = { text: '', child }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', part => {
      example.text += String(part)
    })
  return example
}

describe('examples of the SDK', () => {
  it('watch: status, then prices as they change, and it ends on request', async () => {
    const example = await run('watch', `${CHAIN_ID}`)
    await until('replaying', () => example.text.includes('replaying'))
    await until('a price', async () => {
      await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDC', 'LARK'), 'LARK', 900))
      return example.text.includes(`${idOf(chain.token('LARK'))} 1.`)
    })
    expect(example.text).toMatch(/^resetting\nreplaying\n/)
    example.child.kill('SIGTERM')
    const [code] = (await once(example.child, 'exit')) as [number]
    expect(code).toBe(0)
  })

  it('portfolio: tokens below the requested confidence are excluded and named', async () => {
    const [lark, moth] = [chain.token('LARK'), chain.token('MOTH')]
    const example = await run('portfolio', `${CHAIN_ID}`, '1', `${lark}=100`, `${moth}=1000`)
    await once(example.child, 'exit')
    const total = Number(/^total ([0-9.]+) USD$/m.exec(example.text)?.[1])
    expect(total).toBeGreaterThan(100 * 1.1 + 1000 * 0.035)
    expect(total).toBeLessThan(100 * 1.4 + 1000 * 0.045)
    const strict = await run('portfolio', `${CHAIN_ID}`, '10', `${lark}=100`)
    await once(strict.child, 'exit')
    expect(strict.text).toBe(`${lark} left out: BELOW_MIN_SCORE\ntotal 0 USD\n`)
  })

  it('alert: a reorganisation that changes a price is reported', async () => {
    const example = await run('alert', `${CHAIN_ID}`)
    const pool = chain.pool('uniswap-v2', 'USDC', 'LARK')
    await until('live', async () => {
      await service.untilTip(await chain.run(chain.sellV2(pool, 'LARK', 700)))
      return example.text.includes('live')
    })
    await service.untilTip(await chain.run(chain.sellV2(pool, 'LARK', 9000)))
    await service.untilTip(await chain.reorg(1))
    await until('the retraction', () =>
      example.text.includes(`retracted ${idOf(chain.token('LARK'))}: REORG; now 1.`),
    )
  })
})
