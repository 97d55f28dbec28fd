/** Eight writers × 10,000 appends with random delays on PostgreSQL, and a tail reader that must miss none (faults S14). */
import { postgresDatabase } from '../packages/server/store/testing/connect.ts'
import { startPostgres } from '../packages/server/store/testing/postgresServer.ts'
import { appendConcurrently } from '../packages/server/store/testing/tail.ts'
import { seedOfRun } from '../packages/world/seed.ts'
import { commandLine } from './commandLine.ts'

commandLine('npm run test:tail', {})

const [WRITERS, APPENDS] = [8, 10_000]

const server = await startPostgres()
const database = await postgresDatabase(server)
const seed = seedOfRun()
const store = await database.connect()
const { records, missed, polls } = await appendConcurrently(store, WRITERS, {
  address: database.address,
  appends: APPENDS,
  seed,
})
console.log(`seed ${seed}: ${records} records from ${WRITERS} writers in ${polls} reads, ${missed} missed`)
if (missed > 0 || records !== WRITERS * APPENDS) process.exitCode = 1
await database.dispose()
await server.dispose()
