/** The rules of this repository as tests: allowed imports, the engine's number types, the contents of a commit. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { timedClaims } from './elapsedTime.ts'
import { type Suite, suites } from './suites.ts'

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(file => file !== '' && existsSync(file))
const isTest = (file: string) => file.endsWith('.test.ts') || file.includes('/testing/')
const sources = files.filter(file => /\.tsx?$/.test(file))
const engine = sources.filter(file => file.startsWith('packages/engine/') && !isTest(file))
const text = (file: string) => readFileSync(file, 'utf8')

/** What each layer of the engine may import, besides itself. A layer is a folder; '' is the package's root. */
const ENGINE_LAYERS: Readonly<Record<string, readonly string[]>> = {
  exact: ['root:assert', 'root:units'],
  amm: ['exact', 'memory:switch', 'root:assert', 'root:units'],
  policy: ['exact', 'root:assert', 'root:units'],
  rules: ['exact', 'amm', 'policy', 'root:assert', 'root:units', 'types'],
  memory: ['exact', 'amm', 'rules', 'chain:block', 'root:assert', 'root:units', 'types'],
  price: ['exact', 'amm', 'policy', 'rules', 'memory', 'chain:block', 'root:assert', 'root:units', 'types'],
  chain: [
    'exact',
    'amm',
    'policy',
    'rules',
    'memory',
    'price',
    'root:assert',
    'root:units',
    'root:setup',
    'root:state',
    'root:triggers',
    'root:work',
    'types',
  ],
  exit: ['exact', 'rules', 'price', 'root:units', 'types'],
  cost: [
    'exact',
    'amm',
    'rules',
    'price',
    'chain',
    'root:assert',
    'memory:dueQueue',
    'root:units',
    'root:work',
    'types',
  ],
  stored: [
    'amm',
    'chain',
    'memory',
    'policy',
    'price',
    'root:assert',
    'root:createState',
    'root:units',
    'types',
  ],
}

/** What each layer of the server may import, besides itself. */
const SERVER_LAYERS: Readonly<Record<string, readonly string[]>> = {
  ops: [],
  config: ['ops'],
  store: ['ops'],
  stream: ['ops', 'store'],
  access: ['ops', 'store'],
  feed: ['ops', 'config'],
  market: ['ops', 'config', 'feed'],
  doctor: ['ops', 'config', 'feed', 'market'],
  capture: ['ops', 'config', 'feed'],
  worker: ['ops', 'config', 'store', 'feed', 'market'],
  cluster: ['ops', 'store', 'worker:chainService', 'worker:messages', 'worker:remoteChain'],
  webhooks: ['ops', 'store', 'stream'],
  exports: ['store'],
  http: ['ops', 'config', 'store', 'stream', 'access', 'exports', 'webhooks', 'worker:chainService'],
  ws: ['ops', 'store', 'stream', 'access'],
}

/** Layers of the server that put the others together, and may import all of them. */
const SERVER_TOP: readonly string[] = ['wiring', 'roles', 'commands', 'endToEnd']

/** Packages each package may import. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  engine: [],
  sdk: ['@assay/engine'],
  server: ['@assay/engine', '@assay/sdk'],
  world: [],
  console: ['@assay/sdk'],
  cli: ['@assay/console', '@assay/sdk', '@assay/server', '@assay/world'],
}

/** `number` in the place of a type. */
const BARE_NUMBER = /(:|<|\||\[|=>|\bas)\s*(readonly )?number\b(?!\s*[:=])|\bnumber\[\]/

type Import = { readonly file: string; readonly target: string; readonly isType: boolean }

function importsOf(file: string): Import[] {
  return [...text(file).matchAll(/^(?:import|export)\s+(type\s+)?[^'"]*?from\s+'([^']+)'/gm)].map(match => ({
    file,
    target: match[2] as string,
    isType: match[1] !== undefined,
  }))
}

test('the engine imports nothing but itself', () => {
  const foreign = engine.flatMap(importsOf).filter(({ target }) => !target.startsWith('.'))
  expect(foreign).toEqual([])
  const outside = engine
    .flatMap(importsOf)
    .filter(({ file, target }) => !normalize(join(dirname(file), target)).startsWith('packages/engine/'))
  expect(outside).toEqual([])
})

test('engine layers import one way: exact ← amm ← rules ← memory ← price ← exit, chain ← cost, step, stored; types may be shared', () => {
  const wrong = engine.flatMap(importsOf).filter(({ file, target, isType }) => {
    const [layer, ...rest] = file.slice('packages/engine/'.length).split('/')
    if (rest.length === 0) return false
    const allowed = ENGINE_LAYERS[layer as string]
    if (allowed === undefined) return true
    const path = normalize(join(dirname(file), target)).slice('packages/engine/'.length)
    const [to, ...inner] = path.split('/')
    if (to === layer) return false
    const name = inner.length === 0 ? `root:${(to as string).replace('.ts', '')}` : (to as string)
    const exact = inner.length === 0 ? name : `${to}:${inner.join('/').replace('.ts', '')}`
    return !(allowed.includes(name) || allowed.includes(exact) || (isType && allowed.includes('types')))
  })
  expect(wrong).toEqual([])
})

test('server layers import one way: ops ← config ← feed, ops ← store ← stream, feed ← market ← worker, access ← http and ws ← service', () => {
  const wrong = sources
    .filter(
      file =>
        /^packages\/server\/[^/]+\/.+/.test(file) &&
        !isTest(file) &&
        !SERVER_TOP.includes(file.split('/')[2] as string),
    )
    .flatMap(importsOf)
    .filter(({ file, target }) => {
      // A manifest belongs to no layer.
      if (!target.startsWith('.') || target.endsWith('/package.json')) return false
      const layer = file.split('/')[2] as string
      const [, , to, ...inner] = normalize(join(dirname(file), target)).split('/')
      if (to === layer) return false
      const allowed = SERVER_LAYERS[layer] ?? []
      return (
        !allowed.includes(to as string) && !allowed.includes(`${to}:${inner.join('/').replace('.ts', '')}`)
      )
    })
  expect(wrong).toEqual([])
})

const HOUSES = [...Object.keys(PACKAGES).map(name => `packages/${name}`), 'trials', 'bench', 'scripts']
test.each(HOUSES)('no import of %s is circular, types included', house => {
  const inside = sources.filter(file => file.startsWith(`${house}/`) && !file.endsWith('.test.ts'))
  const graph = graphOf(inside, () => true)
  const circles: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    state.set(file, 'open')
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    state.set(file, 'done')
  }
  for (const file of graph.keys()) visit(file, [])
  expect(circles).toEqual([])
})

/** From the entry of the engine down to a file that needs no other. */
const MOST_IMPORTS_IN_A_ROW = 9

test('no import chain of the engine that loads something is longer than nine', () => {
  const graph = graphOf(engine, ({ file, target, isType }) => !isType && !isTypeOnly(file, target))
  const paths = new Map<string, readonly string[]>()
  const longest = (file: string): readonly string[] => {
    const known = paths.get(file)
    if (known !== undefined) return known
    let below: readonly string[] = []
    for (const next of graph.get(file) ?? []) if (longest(next).length > below.length) below = longest(next)
    const path = [file, ...below]
    paths.set(file, path)
    return path
  }
  const tooLong = engine.map(longest).filter(path => path.length - 1 > MOST_IMPORTS_IN_A_ROW)
  expect(tooLong.map(path => path.join(' → '))).toEqual([])
})

/** Which files each file imports. */
function graphOf(inside: readonly string[], isMeant: (each: Import) => boolean): Map<string, string[]> {
  const targets = (file: string) =>
    importsOf(file)
      .filter(each => each.target.startsWith('.') && isMeant(each))
      .map(({ target }) => normalize(join(dirname(file), target)))
  return new Map(inside.map(file => [file, targets(file)]))
}

/** An import whose every name is marked `type` loads nothing. */
function isTypeOnly(file: string, target: string): boolean {
  const escaped = target.replace(/[.\\/]/g, '\\$&')
  const match = text(file).match(
    new RegExp(`^(?:import|export)\\s+\\{([^}]*)\\}\\s+from\\s+'${escaped}'`, 'm'),
  )
  return (
    match !== null &&
    (match[1] as string).split(',').every(name => name.trim() === '' || name.trim().startsWith('type '))
  )
}

test('packages import only the packages below them', () => {
  const wrong = sources
    .filter(file => !isTest(file))
    .flatMap(importsOf)
    .filter(({ file, target }) => {
      const own = file.match(/^packages\/([^/]+)\//)?.[1]
      return (
        own !== undefined &&
        target.startsWith('@assay/') &&
        // An example is written as a customer would write it.
        !(file.startsWith('packages/sdk/examples/') && target === '@assay/sdk') &&
        !(PACKAGES[own] ?? []).some(each => target === each || target.startsWith(`${each}/`))
      )
    })
  expect(wrong).toEqual([])
})

/** In memory, on the engine's own rules, for benchmarks and tests; no package that is published has it. */
const MARKET = 'packages/world/market/'

test('a package imports another one by its name, and only from what that offers', () => {
  const wrong = sources
    .filter(
      file => file.startsWith('packages/') && !isTest(file) && !/\/examples\/|\.torture\.ts$/.test(file),
    )
    .flatMap(importsOf)
    .filter(({ file, target }) => {
      if (!target.startsWith('.')) return false
      const to = normalize(join(dirname(file), target))
      if (file.startsWith(MARKET) && to.startsWith('packages/engine/')) return false
      return !to.startsWith(file.split('/').slice(0, 2).join('/'))
    })
  expect(wrong).toEqual([])
})

test('numbers in the engine are branded: no bare `number` annotation outside units.ts', () => {
  const bare = engine
    .filter(file => file !== 'packages/engine/units.ts')
    .flatMap(file =>
      text(file)
        .split('\n')
        .flatMap((line, at) =>
          BARE_NUMBER.test(line.replace(/\/\/.*|^\s*\*.*/, '').replace(/'[^']*'/g, "''"))
            ? [`${file}:${at + 1} ${line.trim()}`]
            : [],
        ),
    )
  expect(bare).toEqual([])
})

/** Doubles may decide where exact integers must agree with them, and a logarithm may be the first guess of what is then settled exactly. */
test('no value of the engine is computed in floating point, and it has no clock and no outside world', () => {
  const banned =
    /\bparseFloat\(|\bMath\.(pow|sqrt|round|random|exp)\(|\bDate\b|\bperformance\b|\bprocess\b|\bsetTimeout\b|\bawait\b|\basync\b|\bfetch\(/
  const found = engine.flatMap(file =>
    text(file)
      .split('\n')
      .flatMap((line, at) =>
        banned.test(line.replace(/\/\/.*|^\s*\/?\*.*/, '')) ? [`${file}:${at + 1} ${line.trim()}`] : [],
      ),
  )
  expect(found).toEqual([])
})

test('only quoteJson.ts and hopJson.ts know the text of a quote: no other file names a member of one within JSON text', () => {
  const { quoteToken } = JSON.parse(text('packages/server/http/openapi/examples.json')) as {
    quoteToken: { '200': object }
  }
  // An envelope has a `chain_id` too, which store/envelope.ts writes.
  const { chain_id: _, ...priced } = quoteToken['200'] as Record<string, unknown>
  const members = [...Object.keys(priced), 'candidates', 'reason', 'hops']
  const inText = new RegExp(`"(${members.join('|')})\\\\?":`)
  const knowing = sources
    .filter(file => /^packages\/(engine|sdk|server|cli|console)\//.test(file) && !isTest(file))
    .filter(file => inText.test(text(file)))
  expect(knowing).toEqual(['hopJson.ts', 'quoteJson.ts'].map(file => `packages/engine/price/publish/${file}`))
})

/** Where a family may be named: its own folders, and the tables that have a line for each. */
const FAMILY_PLACES = [
  /^packages\/engine\/amm\//,
  /^packages\/server\/market\/(v2|v3|pancake|algebra|v4)\//,
  /^packages\/server\/market\/(families|tiered)\.ts$/,
  /^packages\/server\/config\/(sections\/deployment|chains\/protocols)\.ts$/,
  /^packages\/sdk\/verify\/pools\//,
  /^packages\/sdk\/wire\/chain\.ts$/,
  /^packages\/sdk\/probe\/plan\.ts$/,
  // Its two keys are names of rules, which a family refers to.
  /^packages\/engine\/policy\/policy(Override)?\.ts$/,
]

test('no file of the engine, the service, the SDK, the CLI, the console, the attacks or the simulation names a pool family but its own and the tables', () => {
  const naming = sources
    .filter(
      file =>
        (/^packages\/(engine|sdk|server|cli|console)\//.test(file) ||
          /^trials\/(attack|simulate)/.test(file)) &&
        !isTest(file),
    )
    .filter(file => !FAMILY_PLACES.some(place => place.test(file)))
    .flatMap(file =>
      text(file)
        .split('\n')
        .flatMap((line, at) =>
          /['"`]amm_\w+|\.family\s*[!=]==/.test(line.replace(/^\s*\/?\*.*/, ''))
            ? [`${file}:${at + 1} ${line.trim()}`]
            : [],
        ),
    )
  expect(naming).toEqual([])
})

test('a file has one noun: none of the engine is past 250 lines', () => {
  expect(engine.filter(file => text(file).split('\n').length > 251)).toEqual([])
})

test('no utils, helpers, common or types files', () => {
  expect(sources.filter(file => /(^|\/)(utils?|helpers?|common|types)(\.tsx?$|\/)/.test(file))).toEqual([])
})

test('no test is skipped, focused or only planned', () => {
  const marks = sources.filter(
    file =>
      isTest(file) &&
      /\b(it|test|describe)\.(skip|only|todo)\b/.test(text(file)) &&
      !file.endsWith('tidy.test.ts'),
  )
  expect(marks).toEqual([])
})

/** Of the ordinary command, but for this file, which has examples of what is not allowed. */
const tests = sources.filter(file => file.endsWith('.test.ts') && !file.endsWith('tidy.test.ts'))

test('no test asserts how fast this machine is: speed is a benchmark, work is counted, and a wait has a generous guard', () => {
  expect(tests.flatMap(file => timedClaims(text(file)).map(claim => `${file}: ${claim}`))).toEqual([])
})

test.each([
  ['directly', 'expect(performance.now() - startMs).toBeLessThan(5000)'],
  ['by a name', 'const tookMs = Date.now() - startMs\nexpect(tookMs, said).toBeLessThanOrEqual(MOST_MS)\n'],
  ['in a list', 'waits.push(performance.now() - startMs)\nexpect(waits[0]).not.toBeGreaterThan(9)'],
  [
    'by a share',
    'const s = (performance.now() - from) / 1000\nconst cores = used / s\nexpect(cores).toBeLessThan(0.5)',
  ],
  [
    'by a function',
    'const time = async () => {\n  return performance.now() - from\n}\nexpect(await time()).toBeLessThan(9)',
  ],
  [
    'by a promise',
    '  closed: once(socket).then(() => performance.now() - startMs),\nexpect(await idle.closed).toBeLessThan(6)',
  ],
])('an upper bound of a measured time is found, %s', (_, source) => {
  expect(timedClaims(source)).toHaveLength(1)
})

test.each([
  ['a lower bound', 'expect(performance.now() - startMs).toBeGreaterThan(700)'],
  [
    'a count that time allows',
    'const earned = (performance.now() - startMs) / 100\nexpect(passed).toBeLessThan(earned)',
  ],
  ['a moment', 'const old = seal(Date.now() - 1)\nexpect(old.length).toBeLessThan(9)'],
])('%s is no such claim', (_, source) => {
  expect(timedClaims(source)).toEqual([])
})

test('a wait for a condition has a guard of 30 s or more, and `vi.waitFor` sets it: its own default is a second', () => {
  const short = tests.flatMap(file => {
    const found = text(file).matchAll(
      /(?:\bpoll|\bwaitFor\w*)\((?:(?!\n\n)[\s\S]){0,600}?\{ timeout: ([\d_]+)/g,
    )
    return [...found].flatMap(([, ms = '']) =>
      Number(ms.replaceAll('_', '')) < 30_000 ? [`${file}: ${ms}`] : [],
    )
  })
  expect(short).toEqual([])
  const bare = tests.filter(file =>
    text(file)
      .split('vi.waitFor(')
      .slice(1)
      .some(rest => !/^[\s\S]{0,600}?timeout:/.test(rest)),
  )
  expect(bare).toEqual([])
})

const suitesOf = (file: string): readonly Suite[] =>
  suites.filter(({ include }) => {
    const excluded = include.includes('--exclude') && file.endsWith('.differential.test.ts')
    return (
      !excluded &&
      include.some(
        part =>
          !part.startsWith('-') &&
          !part.startsWith('**') &&
          (part.includes('/') ? file.startsWith(part) : file.endsWith(part)),
      )
    )
  })

test('every test file belongs to exactly one suite', () => {
  const tests = sources.filter(file => file.endsWith('.test.ts'))
  expect(tests.filter(file => suitesOf(file).length !== 1)).toEqual([])
})

test('the files that a suite starts first exist and are its own', () => {
  const wrong = suites.flatMap(suite =>
    (suite.longest ?? []).filter(file => !sources.includes(file) || !suitesOf(file).includes(suite)),
  )
  expect(wrong).toEqual([])
})

test('every source file opens with its purpose', () => {
  const bare = sources.filter(file => !isTest(file) && !/^(#!.*\n)?\/\*\*/.test(text(file)))
  expect(bare).toEqual([])
})
