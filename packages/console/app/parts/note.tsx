/** What stands where content is not there yet, or cannot be. */
import { AssayError } from '@assay/sdk'

export const Loading = ({ what }: { readonly what: string }) => (
  <p class="muted loading" role="status">
    Loading {what} …
  </p>
)

type Props = { readonly failure: Error | null; readonly onRetry?: () => void }

/** What went wrong and what can be done about it; the request id is what an operator searches the log for. */
export function ErrorNote({ failure, onRetry }: Props) {
  if (failure === null) return null
  const requestId = failure instanceof AssayError ? failure.requestId : null
  return (
    <div class="note bad" role="alert">
      <p>{failure.message}</p>
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
