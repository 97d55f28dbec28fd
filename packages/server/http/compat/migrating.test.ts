/** docs/MIGRATING.md lists every endpoint that is served in the formats of others, and no other; and every reason. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import fastify from 'fastify'
import { expect, it } from 'vitest'
import type { HttpContext } from '../plumbing/context.ts'
import { registerCompat } from './compat.ts'
import { PREFIX, type Vendor } from './vendor.ts'

const PAGE = readFileSync(resolve(import.meta.dirname, '../../../../docs/MIGRATING.md'), 'utf8')
const HEADINGS: Readonly<Record<Vendor, string>> = {
  coingecko: '## From CoinGecko',
  defillama: '## From DefiLlama',
  udf: '## From another TradingView data feed',
}
const NETWORK = '/onchain/networks/{network}'

const sectionOf = (heading: string): string => {
  const [, after = ''] = PAGE.split(`${heading}\n`)
  return after.split('\n## ')[0] ?? ''
}

/** The first column of the table of endpoints. */
function documented(vendor: Vendor): readonly string[] {
  const rows = sectionOf(HEADINGS[vendor]).matchAll(/^\| (`[/…].+?`) \|/gm)
  return [...rows]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path))
    .map(path => path.replace('…', NETWORK).replaceAll(/\{\w+\}/g, '{}'))
}

async function served(vendor: Vendor): Promise<readonly string[]> {
  const paths: string[] = []
  const app = fastify()
  app.addHook('onRoute', ({ url, method }) => {
    if (method === 'GET' && url.startsWith(PREFIX[vendor])) paths.push(url.slice(PREFIX[vendor].length))
  })
  const compat = { coingecko: true, defillama: true, udf: true, minScore: 1, listen: null }
  registerCompat(app, { config: { compat } } as HttpContext)
  await app.close()
  return paths.map(path => path.replaceAll(/:\w+|\*/g, '{}'))
}

it.each(['coingecko', 'defillama', 'udf'] as const)('lists what is served for %s', async vendor => {
  const paths = await served(vendor)
  expect(paths.length).toBeGreaterThan(4)
  expect(documented(vendor).toSorted()).toEqual(paths.toSorted())
})

/** A reason of an UNPRICED state, which are explained elsewhere, and a mark that no answer contains. */
const OTHERS: ReadonlySet<string> = new Set(['NO_ROUTE', 'NO_PRICE'])

it('explains every reason that only these endpoints return', () => {
  const table = PAGE.split('| reason | meaning |')[1]?.split('\n\n')[0] ?? ''
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  const code = files
    .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map(file => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n')
  const given = [...new Set([...code.matchAll(/'([A-Z]+_[A-Z_]+)'/g)].map(([, reason = '']) => reason))]
  expect(given.length).toBeGreaterThan(10)
  expect(given.filter(reason => !table.includes(`\`${reason}\``) && !OTHERS.has(reason))).toEqual([])
})
