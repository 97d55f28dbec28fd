/**
 * The other subscribers of `latency.ts`, in a separate process: each reads the whole stream without parsing it, so
 * that the measurement covers the service and not a hundred parsers in the measuring process.
 */
import { once } from 'node:events'
import process from 'node:process'

const [url, key, count, chains] = process.argv.slice(2) as [string, string, string, string]
const subscribe = JSON.stringify({
  filter: { chain_ids: JSON.parse(chains) as number[], pool_ids: [], token_ids: [] },
  resume_cursor: null,
})

/** Node's own client accepts headers, which a browser's does not. */
const withKey = { headers: { authorization: `Bearer ${key}` } }
for (let opened = 0; opened < Number(count); opened++) {
  const socket = new WebSocket(url, withKey)
  await once(socket, 'open')
  socket.send(subscribe)
  // A subscriber that is turned away is no load: better no result than one with fewer subscribers.
  socket.addEventListener('close', () => process.exit(1))
}
process.send?.('open')
process.on('disconnect', () => process.exit())
