/** A thread that simulates one life after another, as it receives them. It has a clock of its own. */
import { parentPort } from 'node:worker_threads'
import type { Life, Outcome } from './lives.ts'
import { simulate } from './simulation.ts'

parentPort?.on('message', (life: Life) => {
  void live(life).then(outcome => parentPort?.postMessage(outcome))
})

async function live(life: Life): Promise<Outcome> {
  try {
    const report = await simulate(life)
    if (!life.isTwice) return { report, failure: null }
    const { digest } = await simulate(life)
    const failure = digest === report.digest ? null : `two runs differ: ${report.digest} and ${digest}`
    return { report, failure }
  } catch (failure) {
    return { report: null, failure: failure instanceof Error ? String(failure.stack) : String(failure) }
  }
}
