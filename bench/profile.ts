/**
 * `node --expose-gc bench/profile.ts [blocks] [warm-up blocks] [live]`: where the engine's steps spend their time
 * under the load of the swaps-per-second row. Only steps are profiled, neither bring-up nor the building of blocks.
 * With `live` no token is drained, so that nearly all 10,000 have a price and follow the anchors. Prints functions by
 * their own time and writes .cache/engine.cpuprofile for a viewer.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assertVerified, engineFor, Load, newMarket, noSteps, pricedTokens, runSteps } from './engineLoad.ts'
import { quantile } from './harness.ts'
import { duration, significant } from './row.ts'

const [blocks = 160, warmUp = 700] = process.argv.slice(2, 4).map(Number)
const PROFILE = fileURLToPath(new URL('../.cache/engine.cpuprofile', import.meta.url))
const SHOWN = 30
const PORTION = 50

const isLive = process.argv[4] === 'live'
const market = newMarket({
  pools: 20_000,
  tokens: 10_000,
  ...(isLive ? { drainedShare: 0, leastUsd: 10_000 } : {}),
})
const state = engineFor(market)
const load = new Load(market, { swapsPerBlock: 200 })
for (let done = 0; done < warmUp; done += PORTION) runSteps(state, load.next(PORTION), noSteps())
assertVerified(state)
const inputs = load.next(blocks)
globalThis.gc?.()

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.setSamplingInterval', { interval: 500 })
await session.post('Profiler.start')
const steps = noSteps()
runSteps(state, inputs, steps)
const { profile } = await session.post('Profiler.stop')
session.disconnect()
mkdirSync(dirname(PROFILE), { recursive: true })
writeFileSync(PROFILE, JSON.stringify(profile))

const wallNs = steps.ns.reduce((sum, ns) => sum + ns, 0)
console.log(
  `${steps.ns.length} steps, ${steps.swaps} swaps, ${steps.records} records, ${pricedTokens(state)} tokens with a price: ${significant(steps.swaps / (wallNs / 1e9))} swaps/s,`,
  `${significant(steps.swaps / (steps.cpuNs / 1e9))} per second of processor time;`,
  `step p50 ${duration(quantile(steps.ns, 0.5))}, p99 ${duration(quantile(steps.ns, 0.99))}`,
)
for (const [name, share] of byOwnTime(profile).slice(0, SHOWN))
  console.log(`${(100 * share).toFixed(1).padStart(5)}%  ${name}`)

function byOwnTime({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): [string, number][] {
  const names = new Map(nodes.map(node => [node.id, nameOf(node.callFrame)]))
  const own = new Map<string, number>()
  samples.forEach((id, at) => {
    const name = names.get(id) as string
    own.set(name, (own.get(name) ?? 0) + (timeDeltas[at] as number))
  })
  // Without waiting and the profiler itself.
  own.delete('(idle)')
  own.delete('post')
  const total = [...own.values()].reduce((sum, time) => sum + time, 0)
  return [...own].map(([name, time]): [string, number] => [name, time / total]).sort((a, b) => b[1] - a[1])
}

function nameOf({ functionName, url, lineNumber }: Profiler.ProfileNode['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName
  const file = url.split('/packages/')[1]
  return file === undefined ? name : `${name} ${file}:${lineNumber + 1}`
}
