/**
 * A bounded queue between a socket that pushes and one reader that pulls. It takes no more than `limit` items. A
 * browser's WebSocket cannot be slowed down, so on overflow the only option is to drop the connection.
 */
export class Inbox<Item> {
  readonly #limit: number
  #items: Item[] = []
  #read = 0
  #isEnded = false
  #wake: (() => void) | null = null

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False when the queue is full or ended; the item is then not queued. */
  push(item: Item): boolean {
    if (this.#isEnded || this.#items.length - this.#read >= this.#limit) return false
    this.#items.push(item)
    this.#notify()
    return true
  }

  /** Queued items can still be read. */
  end(): void {
    this.#isEnded = true
    this.#notify()
  }

  /** Also drops queued items. */
  clear(): void {
    this.#items = []
    this.#read = 0
    this.end()
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    while (this.#read === this.#items.length) {
      if (this.#isEnded) return { done: true, value: undefined }
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    const value = this.#items[this.#read++] as Item
    if (this.#read === this.#items.length) {
      this.#items = []
      this.#read = 0
    }
    return { done: false, value }
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = null
  }
}
