/** The hosts of the two ends of `stream.ts`: a server in a thread, readers in a process. One request at a time. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Order } from './streamReaders.ts'
import type { Asked, Ready, ServerData } from './streamServer.ts'

export class Server {
  readonly ready: Ready
  readonly #worker: Worker

  private constructor(worker: Worker, ready: Ready) {
    this.#worker = worker
    this.ready = ready
  }

  static async start(workerData: ServerData): Promise<Server> {
    const worker = new Worker(new URL('streamServer.ts', import.meta.url), { workerData })
    const [ready] = (await once(worker, 'message')) as [Ready]
    return new Server(worker, ready)
  }

  async ask(asked: Asked): Promise<number> {
    this.#worker.postMessage(asked)
    const [said] = (await once(this.#worker, 'message')) as [number]
    return said
  }

  async close(): Promise<void> {
    this.#worker.postMessage({ ask: 'close' } satisfies Asked)
    await once(this.#worker, 'exit')
  }
}

export class Readers {
  #process: ChildProcess | null = null
  #exit: Promise<unknown> = Promise.resolve()

  tell(order: Order): Promise<void> {
    const child = this.#process ?? this.#start()
    return new Promise((resolve, reject) => {
      const gone = (code: number | null) => reject(new Error(`the readers ended with ${code}`))
      child.once('exit', gone)
      child.once('message', () => {
        child.off('exit', gone)
        resolve()
      })
      child.send(order)
    })
  }

  async close(): Promise<void> {
    this.#process?.kill()
    await this.#exit
  }

  #start(): ChildProcess {
    this.#process = fork(fileURLToPath(new URL('streamReaders.ts', import.meta.url)))
    this.#exit = once(this.#process, 'exit')
    return this.#process
  }
}
