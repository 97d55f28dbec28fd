/** Fetches API answers for a component: the last answer stays while a newer one is fetched, and errors are values. */
import { useEffect, useRef, useState } from 'preact/hooks'

export type Answer<Value> = {
  readonly value: Value | null
  readonly failure: Error | null
  readonly isLoading: boolean
  readonly reload: () => void
}

type Held<Value> = { readonly key: string; readonly value: Value | null; readonly failure: Error | null }

/** Fetches when `key` changes, and again when `turn` does; the answers of another key are never shown. */
export function useAnswer<Value>(
  key: string,
  turn: unknown,
  ask: (signal: AbortSignal) => Promise<Value>,
): Answer<Value> {
  const [held, setHeld] = useState<Held<Value>>({ key, value: null, failure: null })
  const [isLoading, setLoading] = useState(true)
  const [asked, setAsked] = useState(0)
  const latest = useRef(ask)
  latest.current = ask
  useEffect(() => {
    const ending = new AbortController()
    setLoading(true)
    latest.current(ending.signal).then(
      value => {
        if (ending.signal.aborted) return
        setHeld({ key, value, failure: null })
        setLoading(false)
      },
      (failure: unknown) => {
        if (ending.signal.aborted) return
        const error = failure instanceof Error ? failure : new Error(String(failure))
        setHeld(before => ({ key, value: before.key === key ? before.value : null, failure: error }))
        setLoading(false)
      },
    )
    return () => ending.abort()
  }, [key, turn, asked])
  const isOwn = held.key === key
  return {
    value: isOwn ? held.value : null,
    failure: isOwn ? held.failure : null,
    isLoading: isLoading || !isOwn,
    reload: () => setAsked(n => n + 1),
  }
}

/** A value that changes often, passed on at most every `everyMs`; the last value is always delivered. */
export function usePaced<Value>(value: Value, everyMs: number): Value {
  const [shown, setShown] = useState(value)
  const at = useRef(0)
  useEffect(() => {
    const dueMs = Math.max(0, at.current + everyMs - performance.now())
    const timer = setTimeout(() => {
      at.current = performance.now()
      setShown(value)
    }, dueMs)
    return () => clearTimeout(timer)
  }, [value, everyMs])
  return shown
}

/** The wall clock, once a second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** Fetches again at an interval while work is under way. */
export function useLooks(isUnderWay: boolean, everyMs: number, reload: () => void): void {
  useEffect(() => {
    if (!isUnderWay) return undefined
    const timer = setInterval(reload, everyMs)
    return () => clearInterval(timer)
  }, [isUnderWay])
}
