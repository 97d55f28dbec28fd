/**
 * Questions to whoever writes a chain, as letters in the store that all processes share. An API node asks without
 * knowing who that is; a writer that dies with a letter in its hands leaves it to the next. Every question may
 * therefore be asked twice, and none of them minds.
 */
import type { Answer, Letter, MailStore, Seat } from '../store/cluster.ts'
import { AskedChain } from './askedChain.ts'
import { ChainDown } from './chainService.ts'
import type { Method } from './messages.ts'

/** Even if every notification is lost, a letter or an answer is seen within this time. */
const LOOK_MS = 250
/** As long as a request may take. */
const PATIENCE_MS = 10_000
/** Letters worked on at once. */
const MOST = 64
const DISCARD_MS = 60_000

type Waiting = {
  readonly resolve: (result: unknown) => void
  readonly reject: (failure: Error) => void
  readonly timer: NodeJS.Timeout
}

/** The asking end. */
export class Correspondence {
  readonly #mail: MailStore
  readonly #asker: string
  readonly #waiting = new Map<number, Waiting>()
  /** Questions on their way to the store: their answers may be faster than their ids. */
  #posting = 0
  readonly #early = new Map<number, Answer>()
  readonly #timer: NodeJS.Timeout
  #isReading = false
  #isWoken = false

  constructor(mail: MailStore, asker: string) {
    this.#mail = mail
    this.#asker = asker
    this.#timer = setInterval(() => {
      if (this.#waiting.size > 0) this.wake()
    }, LOOK_MS)
    this.#timer.unref()
  }

  async ask(chainId: number, method: string, args: readonly unknown[]): Promise<unknown> {
    this.#posting += 1
    let id: number
    try {
      id = await this.#mail.post({
        chainId,
        asker: this.#asker,
        method,
        args: JSON.stringify(args),
        patienceMs: PATIENCE_MS,
      })
    } finally {
      this.#posting -= 1
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        reject(new ChainDown(`the writer of chain ${chainId} did not answer within ${PATIENCE_MS} ms`))
      }, PATIENCE_MS)
      this.#waiting.set(id, { resolve, reject, timer })
      const early = this.#early.get(id)
      if (early !== undefined) this.#settle(early)
      if (this.#posting === 0) this.#early.clear()
    })
  }

  /** There may be an answer. */
  wake(): void {
    this.#isWoken = true
    if (!this.#isReading) this.#read().catch(() => undefined)
  }

  close(): void {
    clearInterval(this.#timer)
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(new ChainDown('this process is stopping'))
    }
    this.#waiting.clear()
  }

  async #read(): Promise<void> {
    this.#isReading = true
    try {
      while (this.#isWoken) {
        this.#isWoken = false
        for (const answer of await this.#mail.receive(this.#asker)) this.#settle(answer)
      }
    } finally {
      this.#isReading = false
    }
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    if (waiting === undefined) {
      if (this.#posting > 0) this.#early.set(answer.id, answer)
      return
    }
    this.#waiting.delete(answer.id)
    clearTimeout(waiting.timer)
    if (answer.failure === null) waiting.resolve(JSON.parse(answer.result ?? 'null'))
    else waiting.reject(failureIn(answer.failure))
  }
}

/** A chain whose writer is some other process. */
export class PostedChain extends AskedChain {
  readonly #correspondence: Correspondence

  constructor(chainId: number, correspondence: Correspondence) {
    super(chainId)
    this.#correspondence = correspondence
  }

  protected ask(method: Method, args: readonly unknown[]): Promise<unknown> {
    return this.#correspondence.ask(this.chainId, method, args)
  }
}

export type OfficeOptions = {
  readonly mail: MailStore
  /** What this process may answer for. */
  readonly seats: () => readonly Seat[]
  readonly answer: (chainId: number, method: string, args: readonly unknown[]) => Promise<unknown>
}

/** The answering end. */
export class PostOffice {
  readonly #options: OfficeOptions
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #working = new Set<Promise<void>>()
  #isCollecting = false
  #isWoken = false
  #isClosed = false

  constructor(options: OfficeOptions) {
    this.#options = options
    this.#timers = [
      setInterval(() => this.wake(), LOOK_MS),
      setInterval(() => void options.mail.discard().catch(() => undefined), DISCARD_MS),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  /** There may be a letter. */
  wake(): void {
    this.#isWoken = true
    if (!this.#isCollecting) this.#collect().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#working)
  }

  async #collect(): Promise<void> {
    this.#isCollecting = true
    try {
      while (this.#isWoken && !this.#isClosed) {
        this.#isWoken = false
        const seats = this.#options.seats()
        const room = MOST - this.#working.size
        if (seats.length === 0 || room <= 0) return
        for (const letter of await this.#options.mail.collect(seats, room)) {
          const work = this.#answer(letter).finally(() => this.#working.delete(work))
          this.#working.add(work)
        }
      }
    } finally {
      this.#isCollecting = false
    }
  }

  async #answer({ id, chainId, method, args }: Letter): Promise<void> {
    const answer = await this.#options.answer(chainId, method, JSON.parse(args) as readonly unknown[]).then(
      result => ({ id, result: JSON.stringify(result ?? null), failure: null }),
      (failure: unknown) => ({ id, result: null, failure: textOf(failure) }),
    )
    // Whoever asked gives up by itself when this is lost.
    await this.#options.mail.answer(answer).catch(() => undefined)
  }
}

const DOWN = 'ChainDown: '

const textOf = (failure: unknown): string =>
  failure instanceof ChainDown
    ? DOWN + failure.message
    : failure instanceof Error
      ? failure.message
      : String(failure)

const failureIn = (text: string): Error =>
  text.startsWith(DOWN) ? new ChainDown(text.slice(DOWN.length)) : new Error(text)
