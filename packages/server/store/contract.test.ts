/** What every store must do, asked of each of them. */
import { afterEach, beforeEach, describe } from 'vitest'
import { type TestDatabase } from './testing/connect.ts'
import { accessContract } from './testing/contract/access.ts'
import { backfillContract } from './testing/contract/backfill.ts'
import { commitContract } from './testing/contract/commits.ts'
import { historyContract } from './testing/contract/history.ts'
import { operatorContract } from './testing/contract/operator.ts'
import { snapshotContract } from './testing/contract/snapshots.ts'
import { streamContract } from './testing/contract/streams.ts'
import { webhookContract } from './testing/contract/webhooks.ts'
import { bothStores } from './testing/bothStores.ts'

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
    describe('back-fill', () => backfillContract(database))
    describe('operators', () => operatorContract(database))
    describe('webhooks', () => webhookContract(database))
  })
}

for (const [name, open] of Object.entries(bothStores())) storeContract(name, open)
