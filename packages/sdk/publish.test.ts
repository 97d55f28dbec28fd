/** The package as it is published: packed, installed where there is nothing else, and used the three ways people use it. */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPackage } from './build.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** A quote the service gave, as the API document shows it. */
const EXAMPLES = join(ROOT, 'packages/server/http/openapi/examples.json')

let folder: string
let consumer: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-sdk-'))
  const built = join(folder, 'built')
  buildPackage(built)
  npm(built, 'pack', '--pack-destination', folder)
  const tarball = readdirSync(folder).find(name => name.endsWith('.tgz'))
  consumer = join(folder, 'consumer')
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }))
  npm(consumer, 'install', '--offline', '--no-audit', '--no-fund', join(folder, tarball ?? 'no tarball'))
  copyFileSync(EXAMPLES, join(consumer, 'examples.json'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const run = (name: string, source: string): string => {
  writeFileSync(join(consumer, name), source)
  return execFileSync(process.execPath, [name], { cwd: consumer, encoding: 'utf8' })
}

/** Everything a bundler takes to serve this one import. */
async function bundleOf(source: string): Promise<string> {
  const entry = join(consumer, 'entry.js')
  writeFileSync(entry, source)
  const outDir = join(folder, 'bundle')
  await build({
    configFile: false,
    root: consumer,
    logLevel: 'silent',
    build: { outDir, emptyOutDir: true, minify: false, lib: { entry, formats: ['es'], fileName: 'bundle' } },
  })
  return readFileSync(join(outDir, 'bundle.js'), 'utf8')
}

test('it brings no other package', () => {
  expect(readdirSync(join(consumer, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual([
    'assay-sdk',
  ])
  const manifest = JSON.parse(
    readFileSync(join(consumer, 'node_modules/assay-sdk/package.json'), 'utf8'),
  ) as Record<string, unknown>
  expect([manifest['private'], manifest['dependencies'], manifest['sideEffects']]).toEqual([
    undefined,
    undefined,
    false,
  ])
})

test('plain JavaScript can use every entry point: client, exact values, wire and verify', () => {
  const said = run(
    'use.js',
    `import { readFileSync } from 'node:fs'
     import { createClient, exact, UnreachableError } from 'assay-sdk'
     import { verify, verifyOffline } from 'assay-sdk/verify'
     import { toId, SCHEMA_VERSION } from 'assay-sdk/wire'
     const quote = JSON.parse(readFileSync('examples.json', 'utf8')).quoteToken['200']
     const { verified, checks } = await verify(quote)
     const tampered = structuredClone(quote)
     tampered.price_usd.numerator = String(BigInt(tampered.price_usd.numerator) + 1n)
     const same = [quote, tampered].map(async each =>
       JSON.stringify(verifyOffline(each)) === JSON.stringify(await verify(each)))
     const worth = exact.multiply(exact.from(quote.price_usd), 10n ** 18n, 18)
     // Nobody listens on port 1.
     const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'none' })
     const failure = await client.fetchChains().catch(error => error)
     console.log(JSON.stringify([
       verified, checks > 100, (await verify(tampered)).verified, exact.format(worth, 6) !== '', SCHEMA_VERSION,
       toId(quote.token).length, failure instanceof UnreachableError, failure.retryable,
       ...await Promise.all(same),
     ]))`,
  )
  expect(JSON.parse(said)).toEqual([true, true, false, true, 1, 66, true, true, true, true])
})

test('its types compile for a strict consumer, and reject wrong use', () => {
  const use = (amount: string) => `
    import { createClient, type FollowEvent, type Verification, verify } from 'assay-sdk'
    import type { TokenQuote } from 'assay-sdk/wire'
    const client = createClient({ baseUrl: 'http://127.0.0.1:8080' })
    export async function check(token_address: \`0x\${string}\`): Promise<Verification | null> {
      const quote: TokenQuote = await client.quoteToken({ chain_id: ${amount}, token_address })
      return quote.state === 'PRICED' ? verify(quote) : null
    }
    export const shown = (event: FollowEvent): string =>
      event.kind === 'status' ? event.status : \`\${event.record.stream_sequence} \${event.record.type}\``
  const check = (amount: string): string => {
    writeFileSync(join(consumer, 'use.ts'), use(amount))
    const options = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2024',
      lib: ['es2024', 'dom'],
      types: [],
    }
    writeFileSync(
      join(consumer, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, skipLibCheck: false }, files: ['use.ts'] }),
    )
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    try {
      return execFileSync(process.execPath, [compiler, '-p', '.'], { cwd: consumer, encoding: 'utf8' })
    } catch (failure) {
      return (failure as { stdout: string }).stdout
    }
  }
  expect(check('1')).toBe('')
  expect(check(`'one'`)).toContain("Type 'string' is not assignable to type 'number'")
})

test('a bundle of the client alone has no engine; one that verifies has, and calls a chain only if allowed', async () => {
  const ENGINE = ['sqrtPriceX96', 'consensus']
  const client = await bundleOf(`export { createClient } from 'assay-sdk'`)
  expect(client).toContain('/v1/')
  expect(ENGINE.filter(word => client.includes(word))).toEqual([])
  const verifying = await bundleOf(`export { verify } from 'assay-sdk'`)
  expect(ENGINE.filter(word => verifying.includes(word))).toEqual(ENGINE)
  expect(client.length).toBeLessThan(verifying.length / 2)
  const offline = await bundleOf(`export { verifyOffline } from 'assay-sdk'`)
  expect(verifying).toContain('eth_call')
  expect(offline).not.toContain('eth_call')
  expect(offline.length).toBeLessThan(verifying.length * 0.75)
})
