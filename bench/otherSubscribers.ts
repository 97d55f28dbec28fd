/**
 * The other subscribers of `latency.ts`, in a process of their own: each reads the whole stream and looks at nothing,
 * so that what is measured beside them is the service and not a hundred parsers in the process that measures.
 */
import { once } from 'node:events'
import process from 'node:process'

const [url, key, count, chains] = process.argv.slice(2) as [string, string, string, string]
const subscribe = JSON.stringify({
  filter: { chain_ids: JSON.parse(chains) as number[], pool_ids: [], token_ids: [] },
  resume_cursor: null,
})

/** Node's own client takes headers, which a browser's does not. */
const withKey = { headers: { authorization: `Bearer ${key}` } }
for (let opened = 0; opened < Number(count); opened++) {
  const socket = new WebSocket(url, withKey)
  await once(socket, 'open')
  socket.send(subscribe)
  // Who is turned away is no load: better no figure than one beside fewer.
  socket.addEventListener('close', () => process.exit(1))
}
process.send?.('open')
process.on('disconnect', () => process.exit())
