/**
 * Commits the scripted history of a chain, from where the database stands, in a thread or in a process of its
 * own. Each commit that was acknowledged is reported, after the fact.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { openStore } from '../openStore.ts'
import { openAsProcess } from './connect.ts'
import { scriptedCommit } from './script.ts'

export type CommitterOptions = {
  readonly address: string
  readonly chainId: number
  readonly steps: number
  /** After every commit, with this many records to keep. */
  readonly prune?: { readonly records: number; readonly batch: number }
  /** Dies in the middle of telling of this step. */
  readonly dieAtStep?: number
}
export type Acknowledged = { readonly step: number; readonly first: number; readonly last: number }

async function main(): Promise<void> {
  const isThread = parentPort !== null
  const options = (isThread ? workerData : JSON.parse(process.argv[2] as string)) as CommitterOptions
  const { address, chainId, steps, prune, dieAtStep } = options
  const store = await (isThread ? openStore(address) : openAsProcess(address))
  const done = (await store.readCheckpoint(chainId))?.step ?? 0
  for (let step = done + 1; step <= done + steps; step++) {
    const result = await store.commit(scriptedCommit(chainId, step))
    if (result.outcome !== 'committed') throw new Error(`step ${step}: ${JSON.stringify(result)}`)
    const acknowledged = { step, first: result.first as number, last: result.last }
    if (step === dieAtStep) {
      process.stdout.write(JSON.stringify(acknowledged).slice(0, 9))
      process.kill(process.pid, 'SIGKILL')
    }
    report(acknowledged)
    if (prune !== undefined) await store.prune({ nowMs: Number.MAX_SAFE_INTEGER, hours: 0, ...prune })
  }
  await store.close()
}

/** Writing to a pipe is synchronous, so a line that was begun before a kill is whole or absent at the reader. */
function report(acknowledged: Acknowledged): void {
  if (parentPort === null) process.stdout.write(`${JSON.stringify(acknowledged)}\n`)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  else parentPort.postMessage(acknowledged)
}

await main()
