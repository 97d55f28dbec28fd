/** The suites of the test command, in the order they run. Every test file belongs to exactly one. */
export type Suite = { readonly name: string; readonly about: string; readonly include: readonly string[] }

const server = (...layers: readonly string[]): string[] => layers.map(layer => `packages/server/${layer}/`)

export const suites: readonly Suite[] = [
  { name: 'tidy', about: 'the house rules that a machine can hold', include: ['scripts/'] },
  {
    name: 'engine',
    about: 'arithmetic, pool maths, prices, confidence, the step function and its laws',
    include: ['packages/engine/', '--exclude', '**/*.differential.test.ts'],
  },
  {
    name: 'chains',
    about: 'a local world of real contracts, our maths against them, feed and market',
    include: ['packages/world/', 'differential.test.ts', ...server('feed', 'market', 'doctor')],
  },
  { name: 'store', about: 'the durable log on SQLite and PostgreSQL', include: server('store') },
  { name: 'sdk', about: 'wire schemas and client', include: ['packages/sdk/'] },
  {
    name: 'service',
    about: 'the running service: prices, reorganisations, restarts, quotes, access, stream',
    include: [...server('access', 'http', 'ops', 'stream', 'worker', 'ws', 'service'), 'packages/cli/'],
  },
  {
    name: 'console',
    about: 'the console in a real browser on a running service',
    include: ['packages/console/'],
  },
]
