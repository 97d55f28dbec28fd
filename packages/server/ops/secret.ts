/** A string that must not be shown: an RPC URL may contain a key. Call `reveal` only where it is used. */
export class Secret {
  readonly #value: string
  readonly #shown: string

  /** `shown` stands for it wherever it is printed, and must contain nothing of the secret. */
  constructor(value: string, shown = '[redacted]') {
    this.#value = value
    this.#shown = shown
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return this.#shown
  }

  toJSON(): string {
    return this.#shown
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.#shown
  }
}
