/**
 * A service reduced to its log and its webhooks, to be killed: it commits the fixed market from where the database
 * stands, and sends. Says `ready` once, then the step of every commit.
 */
import { systemClock } from '../../ops/clock.ts'
import { openAsProcess } from '../../store/testing/connect.ts'
import { Hub } from '../../stream/hub.ts'
import { Sender } from '../sender.ts'
import { LOCAL_SENDING } from './localSending.ts'
import { CHAIN, marketCommit } from './script.ts'

export type SendingOptions = {
  readonly address: string
  readonly untilStep: number
  /** Between two commits. */
  readonly pauseMs: number
}

const { address, untilStep, pauseMs } = JSON.parse(process.argv[2] as string) as SendingOptions
const store = await openAsProcess(address)
const hub = await Hub.open(store, systemClock)
const sender = new Sender({
  store,
  hub,
  ...LOCAL_SENDING,
  owner: 'test',
  isAlone: true,
  pauseMs: (_, share) => Math.floor(share * 20),
})
process.on('SIGTERM', () => {
  void sender.close().then(() => process.exit(0))
})
process.stdout.write('ready\n')
const done = (await store.readCheckpoint(CHAIN))?.step ?? 0
for (let step = done + 1; step <= untilStep; step++) {
  await store.commit(marketCommit(step))
  hub.wake()
  process.stdout.write(`${step}\n`)
  await new Promise(resolve => setTimeout(resolve, pauseMs))
}
setInterval(() => undefined, 1000)
