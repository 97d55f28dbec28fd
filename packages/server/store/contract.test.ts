/** What every store must do, asked of each of them. */
import { afterEach, beforeEach, describe } from 'vitest'
import { sqliteDatabase, type TestDatabase } from './testing/connect.ts'
import { accessContract } from './testing/contract/access.ts'
import { commitContract } from './testing/contract/commits.ts'
import { crashContract } from './testing/contract/crashes.ts'
import { snapshotContract } from './testing/contract/snapshots.ts'
import { streamContract } from './testing/contract/streams.ts'

const stores: Readonly<Record<string, () => Promise<TestDatabase>>> = { sqlite: sqliteDatabase }

function storeContract(name: string, open: () => Promise<TestDatabase>): void {
  describe(name, () => {
    let current: TestDatabase
    const database = () => current
    beforeEach(async () => {
      current = await open()
    })
    afterEach(() => current.dispose())
    describe('commits', () => commitContract(database))
    describe('the log', () => streamContract(database, open))
    describe('snapshots', () => snapshotContract(database))
    describe('access', () => accessContract(database))
    describe('processes', () => crashContract(database))
  })
}

for (const [name, open] of Object.entries(stores)) storeContract(name, open)
