/**
 * Every row, by its module. Names are listed here so that one row can be requested without loading the others, their
 * peers and their preparations; a module with rows other than those listed here is an error.
 */
import type { Benchmark } from './benchmark.ts'

export type Module = {
  readonly file: string
  readonly load: () => Promise<{ readonly benchmarks: readonly Benchmark[] }>
  readonly rows: readonly string[]
}

/**
 * By a name that the compiler does not follow: code of pages is checked with packages/console, where there is a
 * document.
 */
const CONSOLE: string = './console.ts'

export const MODULES: readonly Module[] = [
  {
    file: 'arithmetic.ts',
    load: () => import('./arithmetic.ts'),
    rows: [
      'exact 4-hop price to 18 digits, 256-bit hops',
      'exact 4-hop price to 18 digits, 256-bit hops, against C',
      'reduced fraction, 256 bits',
      'reduced fraction, 1024 bits',
      'reduced fraction, 4096 bits',
    ],
  },
  {
    file: 'depth.ts',
    load: () => import('./depth.ts'),
    rows: ['v3 2% depth both ways, 500 ticks, live index', 'v3 walk without an index', 'v2 2% depth'],
  },
  {
    file: 'depthV4.ts',
    load: () => import('./depthV4.ts'),
    rows: ['v4 2% depth both ways, 500 ticks, live index'],
  },
  {
    file: 'feed.ts',
    load: () => import('./feed.ts'),
    rows: [
      'response bytes → decoded records, against JSON.parse',
      'response bytes → decoded records, against viem',
      'response bytes → decoded records of v4, Pancake and Algebra, against viem',
      'receipts root of 300 receipts',
      'keccak-256 of headers of 576 bytes',
    ],
  },
  {
    file: 'engine.ts',
    load: () => import('./engine.ts'),
    rows: [
      'engine: swaps re-priced per second, 20,000 pools / 10,000 tokens',
      'engine: cost of a block as known pools grow 10,000 → 100,000, same activity',
      'engine: memory at 100,000 pools, 50,000 tokens',
    ],
  },
  {
    file: 'exit.ts',
    load: () => import('./exit.ts'),
    rows: [
      'exit: p99 of answers over 64 routes, four sizes, at most 20 ms',
      'cost: an answer for a token of four pools, at most half a second',
    ],
  },
  {
    file: 'http.ts',
    load: () => import('./http.ts'),
    rows: [
      'HTTP token quote, cached',
      'HTTP token quote, cached, with the same header lines',
      'HTTP token quote, uncached',
      'HTTP batch of 100 tokens',
      'HTTP page of 1,000 pools',
    ],
  },
  {
    file: 'flood.ts',
    load: () => import('./flood.ts'),
    rows: ['HTTP token quote beside another consumer’s flood, against without it'],
  },
  {
    file: 'stream.ts',
    load: () => import('./stream.ts'),
    rows: [
      'stream: fan-out of a record to 1,000 sockets',
      'stream: fan-out of a record to 5,000 sockets',
      'stream: fan-out of a block of 40 records to 1,000 sockets, in one write each',
      'stream: fan-out of a block of 40 records to 5,000 sockets, in one write each',
      'stream: a record to 500 sockets beside 200 that stopped reading, against without them',
      'stream: replay of 100,000 records from a cursor to a socket, against reading them',
    ],
  },
  {
    file: 'store.ts',
    load: () => import('./store.ts'),
    rows: [
      'store: durable commit of a block, 200 records and 50 states, against append + fdatasync',
      'store: durable commit of a block, against PostgreSQL over a unix socket',
      'store: replay of 100,000 packed records, against the same in a row each',
      'store: snapshot of 100,000 pools in pages of 1,000, against one statement',
      'store: memory held after 1,000 blocks written and replayed',
    ],
  },
  {
    file: 'webhooks.ts',
    load: () => import('./webhooks.ts'),
    rows: ['webhooks: durable commit of a block beside 1,000 of them, against without'],
  },
  {
    file: 'restart.ts',
    load: () => import('./restart.ts'),
    rows: ['store: 1,500 pools served again after kill -9, at most two seconds'],
  },
  {
    file: 'start.ts',
    load: () => import('./start.ts'),
    rows: ['start: a new local world with prices, at most a minute'],
  },
  {
    file: 'console.ts',
    load: () => import(CONSOLE) as ReturnType<Module['load']>,
    rows: [
      'console: first price drawn after opening it, at most a second',
      'console: new prices on 5,000 tokens, 50 a second on half a core',
    ],
  },
]

/** The rows whose names contain one of the words, or all rows without words; by module, in their order. */
export function rowsFor(
  words: readonly string[],
): { readonly module: Module; readonly names: readonly string[] }[] {
  const isAsked = (name: string): boolean => words.length === 0 || words.some(word => matches(name, word))
  return MODULES.map(module => ({ module, names: module.rows.filter(isAsked) })).filter(
    ({ names }) => names.length > 0,
  )
}

/** Words that occur in no name. */
export const unknownWords = (words: readonly string[]): readonly string[] =>
  words.filter(word => !MODULES.some(module => module.rows.some(name => matches(name, word))))

const matches = (name: string, word: string): boolean => name.toLowerCase().includes(word.toLowerCase())
