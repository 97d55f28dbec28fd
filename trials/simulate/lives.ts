/** Many lives, each with its own seed, on as many threads as there are cores. */
import { Worker } from 'node:worker_threads'
import type { Bug } from './bugs.ts'
import type { Report } from './report.ts'

export type Life = {
  readonly seed: number
  readonly hours: number
  readonly bug: Bug | null
  /** Simulated again, which must give the same bytes. */
  readonly isTwice: boolean
}
export type Outcome = { readonly report: Report | null; readonly failure: string | null }

/** This many hours, as lives of at most `lifeHours` with consecutive seeds. */
export function livesOf(hours: number, lifeHours: number, first: Life): Life[] {
  const lives: Life[] = []
  for (let rest = hours, { seed } = first; rest > 0; rest -= lifeHours, seed++)
    lives.push({ ...first, seed, hours: Math.min(rest, lifeHours) })
  return lives
}

/** Every life runs to its end, whatever happens to the others. */
export async function liveAll(
  lives: readonly Life[],
  jobs: number,
  onOutcome: (life: Life, outcome: Outcome) => void,
): Promise<void> {
  const waiting = [...lives]
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL('./livesWorker.ts', import.meta.url))
    for (let life = waiting.shift(); life !== undefined; life = waiting.shift())
      onOutcome(life, await handed(worker, life))
    await worker.terminate()
  }
  await Promise.all(Array.from({ length: Math.min(jobs, lives.length) }, work))
}

function handed(worker: Worker, life: Life): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (outcome: Outcome) => {
      worker.off('error', reject)
      resolve(outcome)
    })
    worker.postMessage(life)
  })
}
