/** What an answer makes of its place: its value, what went wrong, or that it is waited for. */
import type { ComponentChildren } from 'preact'
import type { Answer } from '../answer.ts'
import { ErrorNote, Loading } from './note.tsx'
import { isFinal } from './saying.ts'

type Props<Value> = {
  readonly answer: Answer<Value>
  readonly what: string
  readonly children: (value: Value) => ComponentChildren
}

/** A value that is there stays while a newer one cannot be had, unless the failure says that it no longer holds. */
export const Answered = <Value,>({ answer: { value, failure, reload }, what, children }: Props<Value>) => (
  <>
    <ErrorNote failure={failure} onRetry={reload} />
    {value !== null && !isFinal(failure) ? children(value) : failure === null && <Loading what={what} />}
  </>
)
