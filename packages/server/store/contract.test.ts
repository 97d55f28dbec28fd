/** What every store must do, asked of each of them. */
import { afterEach, beforeEach, describe } from 'vitest'
import { sqliteDatabase, type TestDatabase } from './testing/connect.ts'
import { accessContract } from './testing/contract/access.ts'
import { commitContract } from './testing/contract/commits.ts'
import { crashContract } from './testing/contract/crashes.ts'
import { historyContract } from './testing/contract/history.ts'
import { operatorContract } from './testing/contract/operator.ts'
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
    describe('history', () => historyContract(database))
    describe('access', () => accessContract(database))
    describe('operators', () => operatorContract(database))
    describe('processes', () => crashContract(database))
  })
}

for (const [name, open] of Object.entries(stores)) storeContract(name, open)
