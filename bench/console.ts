/**
 * The console in a real Chromium: how soon a price of the local world is drawn, and the cost of thousands of live
 * tokens to the page. Both against a limit: there is no peer.
 */
import { createClient } from '@assay/sdk'
import { buildConsole } from '../packages/console/build.ts'
import { openBrowser } from '../packages/console/testing/browser.ts'
import { type ConsolePage, firstPrice, logIn, openConsole } from '../packages/console/testing/consolePage.ts'
import { type ManyTokens, serveManyTokens } from '../packages/console/testing/manyTokens.ts'
import type { Benchmark } from './benchmark.ts'
import { startHere, type Started } from './start.ts'

type Browser = Awaited<ReturnType<typeof openBrowser>>
type Debugger = Awaited<ReturnType<ReturnType<ConsolePage['page']['context']>['newCDPSession']>>

const TOKENS = 5000
/** Ten steps a second with five prices each. */
const STEPS = 50
const STEP_MS = 100
const PRICES = 5

export const benchmarks: readonly Benchmark[] = [paint(), manyTokens()]

function paint(): Benchmark {
  let world: Started
  let browser: Browser
  let visitors = 0
  let tookNs = 0
  return {
    name: 'console: first price drawn after opening it, at most a second',
    unit: 'load',
    goal: { ratio: 1, sense: 'at least' },
    limit: { value: 1, unit: 'per second' },
    ours: {
      name: 'the console',
      operations: 1,
      calls: 1,
      measuredNs: () => tookNs,
      async run() {
        const { url, key } = world
        // A separate consumer for each: repeated openings by one consumer would hit the rate limit.
        const consumer = `visitor-${++visitors}`
        const { admin } = createClient({ baseUrl: url, apiKey: key })
        const own = await admin.issueKey({ consumer, name: 'visitor', scopes: ['read', 'stream'] })
        const shown = await openConsole(browser, url)
        await logIn(shown, own.key)
        tookNs = (await firstPrice(shown)).drawnAtMs * 1e6
        await shown.close()
      },
    },
    async prepare() {
      ;[world, browser] = await Promise.all([startHere(), openBrowser()])
    },
    async close() {
      await browser.close()
      await world.close()
    },
  }
}

function manyTokens(): Benchmark {
  let browser: Browser
  let many: ManyTokens
  let shown: ConsolePage
  let debug: Debugger
  let tookNs = 0
  const usedNs = async (): Promise<number> => {
    const { metrics } = await debug.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'ProcessTime')?.value ?? Number.NaN) * 1e9
  }
  return {
    name: 'console: new prices on 5,000 tokens, 50 a second on half a core',
    unit: 'price',
    goal: { ratio: 1, sense: 'at least' },
    limit: { value: 100, unit: 'per second' },
    ours: {
      name: 'processor time of the page',
      operations: STEPS * PRICES,
      calls: 1,
      measuredNs: () => tookNs,
      async run() {
        const [before, startedMs] = [await usedNs(), performance.now()]
        for (let step = 0; step < STEPS; step++) {
          await new Promise(resolve =>
            setTimeout(resolve, Math.max(0, startedMs + step * STEP_MS - performance.now())),
          )
          // Including one in sight: drawing invisible rows costs nothing.
          await many.move(
            Array.from({ length: PRICES }, (_, n) => (n === 0 ? step % 10 : (step * 97 + n * 1009) % TOKENS)),
          )
        }
        tookNs = (await usedNs()) - before
      },
    },
    async prepare() {
      ;[browser, many] = await Promise.all([openBrowser(), serveManyTokens(TOKENS, await buildConsole())])
      shown = await openConsole(browser, many.url)
      await logIn(shown, many.key)
      await shown.page.getByRole('heading', { name: 'Tokens 5,000' }).waitFor()
      debug = await shown.page.context().newCDPSession(shown.page)
      await debug.send('Performance.enable')
    },
    async close() {
      await browser.close()
      await many.close()
    },
  }
}
