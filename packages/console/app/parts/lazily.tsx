/** A page whose code is loaded when it is first opened, so that pages nobody opens cost nothing. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorNote, Loading } from './note.tsx'

export function lazily<Props extends object>(
  what: string,
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null
  return props => {
    const [Page, setPage] = useState(() => loaded)
    const [failure, setFailure] = useState<Error | null>(null)
    const open = () => {
      setFailure(null)
      load().then(
        page => setPage(() => (loaded = page)),
        (thrown: unknown) => setFailure(thrown instanceof Error ? thrown : new Error(String(thrown))),
      )
    }
    useEffect(() => {
      if (Page === null) open()
    }, [])
    if (Page !== null) return <Page {...props} />
    return failure === null ? <Loading what={what} /> : <ErrorNote failure={failure} onRetry={open} />
  }
}
