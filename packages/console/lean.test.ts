import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { build, type Plugin } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { steppedPlot } from './lean.ts'
import { openBrowser } from './testing/browser.ts'

let browser: Browser
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-lean-'))
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A file that is nowhere but here. */
const ENTRY = join(import.meta.dirname, 'chartAlone.ts')
/** The console's own chart of half an hour with a gap in it, and a retraction. */
const PAGE = `
import { createElement, render } from 'preact'
import { Chart } from '/app/parts/chart.tsx'
const points = Array.from({ length: 300 }, (_, at) => ({
  atMs: 1_700_000_000_000 + at * 6000,
  price: at > 100 && at < 120 ? null : 1 + Math.sin(at / 17) / 5,
  score: 7,
  block: at,
}))
const [fromMs, untilMs] = [points[0].atMs, points.at(-1).atMs]
const marks = [{ atMs: points[100].atMs, reason: 'REORG', block: 100, withdrawn: null, now: null, bps: null }]
render(createElement(Chart, { points, candles: [], marks, fromMs, untilMs, about: 'price' }), document.body)
`

async function bundleWith(...plugins: readonly Plugin[]): Promise<string> {
  const entry: Plugin = {
    name: 'chart-alone',
    resolveId: id => (id === ENTRY ? id : null),
    load: id => (id === ENTRY ? PAGE : null),
  }
  await build({
    configFile: false,
    root: import.meta.dirname,
    publicDir: false,
    logLevel: 'warn',
    plugins: [entry, ...plugins],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: { outDir: folder, emptyOutDir: true, lib: { entry: ENTRY, formats: ['es'], fileName: 'chart' } },
  })
  return readFileSync(join(folder, 'chart.js'), 'utf8')
}

/** What is to be seen of it: as it comes, under the pointer, after a stretch was chosen, and after that was undone. */
async function looksOf(script: string): Promise<readonly string[]> {
  const page = await browser.newPage({ locale: 'en-US', viewport: { width: 900, height: 400 } })
  await page.setContent('<body></body>')
  await page.addStyleTag({ path: join(folder, 'chart.css') })
  await page.addScriptTag({ content: script, type: 'module' })
  await page.locator('canvas').waitFor()
  const looks: string[] = []
  const look = async () => {
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    looks.push((await page.screenshot()).toString('base64'), await page.locator('.uplot').innerHTML())
  }
  await look()
  await page.mouse.move(300, 100)
  await look()
  await page.mouse.down()
  await page.mouse.move(420, 120, { steps: 5 })
  await page.mouse.up()
  await look()
  await page.mouse.dblclick(300, 100)
  await look()
  await page.close()
  return looks
}

it('the chart looks and behaves as with all of uPlot, and is smaller', async () => {
  const [whole, lean] = [await bundleWith(), await bundleWith(steppedPlot())]
  expect(lean.length).toBeLessThan(whole.length * 0.9)
  const looks = await looksOf(whole)
  // A pointer and a chosen stretch do change it: there is something to compare.
  expect(new Set(looks).size).toBeGreaterThan(5)
  expect(await looksOf(lean)).toEqual(looks)
})

it('the chart is drawn in any browser language', async () => {
  const script = await bundleWith(steppedPlot())
  const page = await browser.newPage({ locale: 'en-US' })
  // What Chromium reports under LANG=C.
  await page.addInitScript(() => Object.defineProperty(navigator, 'language', { value: 'en-US@posix' }))
  await page.goto('about:blank')
  await page.setContent('<body></body>')
  expect(await page.evaluate(() => navigator.language)).toBe('en-US@posix')
  await page.addScriptTag({ content: script, type: 'module' })
  await page.locator('canvas').waitFor({ timeout: 60_000 })
  await page.close()
})

it('a uPlot with unexpected source is refused', async () => {
  const { handler } = steppedPlot().transform as { handler: (code: string, id: string) => unknown }
  expect(() => handler('const uPlot = {}', 'uPlot.esm.js')).toThrow(
    'uPlot has no line uPlot.assign = assign;',
  )
})
