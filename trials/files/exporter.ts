/**
 * The observed process: a node's API over a log in a folder. `fill` writes the log and ends; `log` prints it, one
 * record per line; `serve` prints its address and key, and exports until its input ends.
 */
import { once } from 'node:events'
import { writeMarketLog } from '../../packages/server/exports/testing/marketLog.ts'
import { openTestApi } from '../../packages/server/endToEnd/testing/testApi.ts'
import { writeBigLog } from './bigLog.ts'

const [task = '', folder = '', kind = '', size = ''] = process.argv.slice(2)
const api = await openTestApi({ folder })
if (task === 'fill') {
  if (kind === 'market') await writeMarketLog(api.store, 20_261_119, Number(size))
  else await writeBigLog(api.store, Number(size))
} else if (task === 'log') {
  const { oldest, head } = await api.store.readBounds()
  for (let after = oldest - 1; after < head; ) {
    const page = await api.store.readLog(after, 1000, null)
    const lines = page.map(
      ({ sequence, chainId, timeMs, envelope }) => `${sequence}\t${chainId}\t${timeMs}\t${envelope}\n`,
    )
    if (!process.stdout.write(lines.join(''))) await once(process.stdout, 'drain')
    after = page.at(-1)?.sequence ?? head
  }
} else {
  process.stdout.write(`${JSON.stringify({ url: api.url, key: await api.key() })}\n`)
  process.stdin.resume()
  await once(process.stdin, 'end')
}
await api.close()
process.exit(0)
