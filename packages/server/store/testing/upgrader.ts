/** Opens a database of an earlier version and does what its upgrade leaves to be done beside the commits. */
import { buildCandles } from '../candleBuild.ts'
import { scanWithdrawals } from '../withdrawalScan.ts'
import { openAsProcess } from './connect.ts'

/** Later than anything the scripted history commits, so that every price is settled. */
const LATER_MS = 2_000_000_000_000

const store = await openAsProcess(process.argv[2] as string)
await scanWithdrawals(store, new AbortController().signal)
for (let isMore = true; isMore; ) isMore = await buildCandles(store, LATER_MS)
await store.close()
