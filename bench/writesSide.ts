/** One side of `writesAgainst.ts`: the synthetic market of a tree, written to a database by the code of that tree. */
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execute } from '../packages/server/store/testing/postgresServer.ts'

const MARKET = { pools: 4_000, tokens: 2_000 }
const SWAPS_PER_BLOCK = 200
const WARM_BLOCKS = 100
const BLOCKS_A_TURN = 5

/** `records`, and the bytes of the database, since the end of the warm-up. */
export type Turn = {
  readonly swaps: number
  readonly records: number
  readonly cpuMicros: number
  readonly bytes: number
  readonly bytesBefore: number
}

const [root, address] = process.argv.slice(2) as [string, string]
const { createState, step }: typeof import('@assay/engine') = await part('packages/engine/index.ts')
const { Load, newMarket }: typeof import('./engineLoad.ts') = await part('bench/engineLoad.ts')
const { bringUp }: typeof import('../packages/world/market/bringUp.ts') = await part(
  'packages/world/market/bringUp.ts',
)
const { commitOf }: typeof import('../packages/server/worker/commitOf.ts') = await part(
  'packages/server/worker/commitOf.ts',
)
const { openAsProcess }: typeof import('../packages/server/store/testing/connect.ts') = await part(
  'packages/server/store/testing/connect.ts',
)

const market = newMarket(MARKET)
const state = createState(market.setup)
const load = new Load(market, { swapsPerBlock: SWAPS_PER_BLOCK })
const stored = { pools: new Set<string>(), tokens: new Map<string, string>() }
const store = await openAsProcess(address)

for (const input of bringUp(market)) await apply(input)
for (const input of load.next(WARM_BLOCKS)) await apply(input)
const bytesBefore = await bytesOf(address)
let records = 0
process.on('message', () => void turn())
process.send?.('ready')

async function turn(): Promise<void> {
  const inputs = load.next(BLOCKS_A_TURN)
  let swaps = 0
  const before = process.cpuUsage()
  for (const input of inputs) {
    const commit = await apply(input)
    records += commit.records.length
    swaps += commit.records.filter(({ subject }) => subject.kind === 'none').length
  }
  const { user, system } = process.cpuUsage(before)
  const done: Turn = { swaps, records, cpuMicros: user + system, bytes: await bytesOf(address), bytesBefore }
  process.send?.(done)
}

async function apply(input: Parameters<typeof step>[1]) {
  const tipHash = state.chain.tip?.hash ?? null
  const commit = commitOf(state, input, step(state, input), { tipHash }, stored)
  const { outcome } = await store.commit(commit)
  if (outcome !== 'committed') throw new Error(`step ${commit.step}: ${outcome}`)
  return commit
}

async function bytesOf(database: string): Promise<number> {
  if (!database.startsWith('sqlite:')) {
    const [row] = await execute(database, 'SELECT pg_database_size(current_database()) AS bytes')
    return Number((row as { bytes: string }).bytes)
  }
  // The write-ahead log is as long as its last checkpoint left it.
  const folder = dirname(database.slice('sqlite:'.length))
  return readdirSync(folder)
    .filter(file => file.endsWith('.db'))
    .reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
}

function part<Module>(path: string): Promise<Module> {
  return import(join(root, path)) as Promise<Module>
}
