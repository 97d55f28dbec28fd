/** The suites of the test command, in order of execution. Every test file belongs to exactly one. */
export type Suite = {
  readonly name: string
  readonly about: string
  readonly include: readonly string[]
  /** Concurrent files, when two would leave the cores idle: tests that wait more than they work. */
  readonly atOnce?: number
  /**
   * Its longest files, the longest first. They start first, so that none of them runs alone at the end: vitest knows no
   * durations in a new checkout, and starts large files before small ones.
   */
  readonly longest?: readonly string[]
  /**
   * Its files run one after another in a few processes, which load the code of the service once instead of once per
   * file. A file leaves its process unchanged: no module mocks, no timers, no environment of its own.
   */
  readonly isShared?: boolean
  /** Requirements on this machine besides the npm packages for it. */
  readonly needs?: readonly Need[]
}

/** Programs that the packages of some platforms include, and that are named in the environment on others. */
export type Need = 'anvil' | 'chromium'

const testsOf = (...names: readonly string[]): string[] => names.map(name => `packages/${name}.test.ts`)

const server = (...layers: readonly string[]): string[] => layers.map(layer => `packages/server/${layer}/`)

export const suites: readonly Suite[] = [
  {
    name: 'tidy',
    about: 'the repository rules that a test can check',
    include: [
      'bench',
      'conformance',
      'dependencies',
      'docs',
      'faults',
      'image',
      'lockfile',
      'mutations',
      'nodeOfScripts',
      'rules',
      'sbom',
      'tidy',
    ].map(name => `scripts/${name}.test.ts`),
  },
  {
    name: 'engine',
    about: 'arithmetic, pool maths, prices, confidence, the step function and its laws',
    include: ['packages/engine/', '--exclude', '**/*.differential.test.ts'],
  },
  {
    name: 'chains',
    about: 'a local world of real contracts, our maths against them, feed and market',
    include: ['packages/world/', 'differential.test.ts', ...server('feed', 'market', 'doctor', 'capture')],
    atOnce: 4,
    longest: testsOf(
      'server/feed/follow/wrongAnswers',
      'server/feed/follow/randomReorgs',
      'server/feed/answers/bigAnswers',
      'engine/amm/v3/v3.differential',
      'world/market/sameBytes',
      'world/local/localWorld',
      'engine/amm/v2/v2.differential',
      'server/feed/follow/headChoice',
      'server/feed/endpoints/endpointFaults',
      'engine/amm/v4/v4.differential',
      'world/proxy/profiles',
      'server/market/oddTokens',
    ),
    isShared: true,
    needs: ['anvil'],
  },
  {
    name: 'store',
    about: 'the durable log on SQLite and PostgreSQL',
    include: server('store'),
    atOnce: 3,
    longest: testsOf(
      'server/store/crash',
      'server/store/postgres/postgresStore',
      'server/store/postgres/cluster',
      'server/store/upgrade',
    ),
    isShared: true,
  },
  { name: 'sdk', about: 'wire schemas and client', include: ['packages/sdk/'] },
  {
    name: 'service',
    about: 'the running service: prices, reorganisations, restarts, quotes, access, stream',
    include: [
      ...server(
        'access',
        'cluster',
        'config',
        'exports',
        'http',
        'ops',
        'stream',
        'webhooks',
        'wiring',
        'worker',
        'ws',
        'endToEnd',
      ),
      'packages/cli/',
    ],
    atOnce: 4,
    longest: testsOf(
      'server/endToEnd/conformance/resume',
      'server/endToEnd/nodes/profiles',
      'server/endToEnd/pricingFaults',
      'cli/commands',
      'server/endToEnd/conformance/crowd',
      'server/endToEnd/attacks',
      'server/endToEnd/nodes/endpoints',
      'cli/world',
      'cli/firstRun',
      'server/endToEnd/conformance/streamFaults',
      'server/endToEnd/backfill',
      'server/endToEnd/untrackedPools',
      'server/endToEnd/nodes/bigBlocks',
      'cli/mcp',
      'server/endToEnd/combined/diskFull',
      'server/endToEnd/failingChain',
      'server/endToEnd/takeOver',
    ),
    isShared: true,
    needs: ['anvil'],
  },
  {
    name: 'trials',
    about: 'what the long trials say of their command lines, and the record of a steady series',
    include: ['trials/commandLine.test.ts', 'trials/steady/'],
  },
  {
    name: 'blocks',
    about: 'blocks with the oddities of real chains through the verifier, and tampered copies of them',
    include: ['trials/blocks/'],
  },
  {
    name: 'simulation',
    about: 'short lives of the whole service on a virtual clock, and bugs planted in them',
    include: ['trials/simulate/'],
  },
  {
    name: 'attacks',
    about: 'what an attacker or a bad day does to a price, on the engine',
    include: ['trials/attack/'],
  },
  {
    name: 'calibration',
    about: 'a short honest market with attacks in it: how far published prices lie from what a seller gets',
    include: ['trials/calibrate/'],
  },
  {
    name: 'load',
    about:
      'a very small load on a running service, the arithmetic of the capacity model, and the recorded chains',
    include: ['trials/load/', 'trials/chains/'],
    needs: ['anvil'],
  },
  {
    name: 'packages',
    about: 'the packages `assay` and `assay-server`, installed into an empty folder and started there',
    include: ['scripts/pack/'],
  },
  {
    name: 'upgrade',
    about: 'what the rehearsal of a rolling upgrade finds wrong',
    include: ['trials/upgrade/'],
  },
  {
    name: 'console',
    about: 'the console in a real browser on a running service',
    include: ['packages/console/'],
    longest: testsOf(
      'console/looks',
      'console/pages',
      'console/lifecycle',
      'console/docsPage',
      'console/operations',
      'console/goneFeed',
    ),
    needs: ['anvil', 'chromium'],
  },
]
