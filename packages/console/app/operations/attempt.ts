/** An operator's action may fail; the error is shown until an action succeeds. */
import { useState } from 'preact/hooks'

export type Attempt = <Value>(work: Promise<Value>, onDone?: (value: Value) => void) => void

export function useAttempt(): readonly [fault: Error | null, attempt: Attempt] {
  const [fault, setFault] = useState<Error | null>(null)
  const attempt: Attempt = (work, onDone) => {
    work.then(
      value => {
        setFault(null)
        onDone?.(value)
      },
      (failure: unknown) => setFault(failure as Error),
    )
  }
  return [fault, attempt]
}
