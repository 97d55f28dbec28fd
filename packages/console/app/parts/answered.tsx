/** Renders an answer: its value, its failure, or a loading state. */
import type { ComponentChildren } from 'preact'
import type { Answer } from '../answer.ts'
import { ErrorNote, Loading } from './note.tsx'
import { isFinal } from './saying.ts'

type Props<Value> = {
  readonly answer: Answer<Value>
  readonly what: string
  readonly children: (value: Value) => ComponentChildren
}

/** An existing value stays when a newer one cannot be fetched, unless the failure means that it no longer holds. */
export const Answered = <Value,>({ answer: { value, failure, reload }, what, children }: Props<Value>) => (
  <>
    <ErrorNote failure={failure} onRetry={reload} />
    {value !== null && !isFinal(failure) ? children(value) : failure === null && <Loading what={what} />}
  </>
)
