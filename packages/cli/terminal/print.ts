/** One answer for two readers: JSON on one line for programs, text for people. */
import { harmless } from './harmless.ts'

export type JsonChoice = { readonly json?: boolean }

export function print({ json }: JsonChoice, value: unknown, text: () => string): void {
  process.stdout.write(`${json === true ? JSON.stringify(value) : harmless(text())}\n`)
}
