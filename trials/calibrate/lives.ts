/** Many markets, each with its own seed, over a given number of threads; the results are in the order of the seeds. */
import { Worker } from 'node:worker_threads'
import type { LifeOptions } from './life.ts'
import type { Sample } from './sample.ts'

export async function liveMarkets(
  lives: readonly LifeOptions[],
  jobs: number,
  onDone: (samples: number) => void = () => {},
): Promise<Sample[]> {
  const results = lives.map((): Sample[] => [])
  let next = 0
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL('./livesWorker.ts', import.meta.url))
    try {
      for (let at = next++; at < lives.length; at = next++) {
        results[at] = await answer(worker, lives[at] as LifeOptions)
        onDone((results[at] as Sample[]).length)
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, lives.length) }, work))
  return results.flat()
}

function answer(worker: Worker, life: LifeOptions): Promise<Sample[]> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (samples: Sample[]) => {
      worker.off('error', reject)
      resolve(samples)
    })
    worker.postMessage(life)
  })
}
