/** A placeholder for content that is loading or unavailable. */
import { sayingOf } from './saying.ts'

export const Loading = ({ what }: { readonly what: string }) => (
  <p class="muted loading" role="status">
    Loading {what} …
  </p>
)

type Props = { readonly failure: Error | null; readonly onRetry?: () => void }

export function ErrorNote({ failure, onRetry }: Props) {
  if (failure === null) return null
  const { what, advice, requestId } = sayingOf(failure)
  return (
    <div class="note bad" role="alert">
      <p>{what}</p>
      {advice !== null && <p class="muted">{advice}</p>}
      {requestId !== null && (
        <p class="small muted">
          request <code>{requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}
