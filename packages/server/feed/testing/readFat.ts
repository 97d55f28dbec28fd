/**
 * A separate process that reads one block over an endpoint and reports how much memory that took: what a test runner has
 * in its heap would hide it. Arguments: URL, chain id, genesis hash, block hash.
 */
import { systemClock } from '../../ops/clock.ts'
import type { Hex } from '../../ops/hex.ts'
import { Secret } from '../../ops/secret.ts'
import { fetchBlock } from '../proof/block.ts'
import { Endpoint } from '../endpoints/endpoint.ts'

const [url = '', chainId = '', genesisHash = '', ...hashes] = process.argv.slice(2)
const endpoint = new Endpoint({
  name: 'node',
  url: new Secret(url),
  identity: { chainId: Number(chainId), genesisHash: genesisHash as Hex },
  clock: systemClock,
  log: () => {},
})
const { signal } = new AbortController()
await endpoint.open(signal)
// Code and pools are warm after a small block.
await fetchBlock(endpoint, hashes[0] as Hex, signal)
globalThis.gc?.()
const baseBytes = process.memoryUsage.rss()
let peakBytes = baseBytes
let turns = 0
const timer = setInterval(() => {
  turns++
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}, 5)
const block = await fetchBlock(endpoint, hashes[1] as Hex, signal)
peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
clearInterval(timer)
endpoint.close()
console.log(
  JSON.stringify({
    proof: block.proof,
    logs: block.logs.length,
    grownBytes: peakBytes - baseBytes,
    turns,
    kinds: endpoint.calls.kinds,
  }),
)
