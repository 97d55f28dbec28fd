/**
 * One of several processes that share a database and could send: it says when it has the turn, and every attempt it
 * makes. It commits nothing: the log is there.
 */
import { systemClock } from '../../ops/clock.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import { openStore, shareStore } from '../../store/openStore.ts'
import { Hub } from '../../stream/hub.ts'
import { addressRule } from '../publicAddress.ts'
import { Sender } from '../sender.ts'
import { resolveByName } from '../target.ts'

const [address = '', owner = ''] = process.argv.slice(2)
await shareStore(address)
const store = await openStore(address)
const hub = await Hub.open(store, systemClock)
const isAllowed = addressRule(['127.0.0.1'])
const say = (what: string) => void process.stdout.write(`${what}\n`)
const sender = new Sender({
  store,
  hub,
  sending: {
    isAllowed(target) {
      say('attempt')
      return isAllowed(target)
    },
    resolve: resolveByName,
    clock: systemClock,
  },
  clock: systemClock,
  log: { ...QUIET, info: text => say(text.includes('sends webhooks') ? 'turn' : 'news') },
  owner,
  isAlone: false,
})
process.on('SIGTERM', () => {
  void sender.close().then(() => process.exit(0))
})
say('ready')
