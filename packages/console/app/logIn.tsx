/** Log-in: exchanges the key once for a session cookie and then discards it. */
import { createClient, ForbiddenError, RateLimitedError, UnauthenticatedError } from '@assay/sdk'
import { useState } from 'preact/hooks'

type Props = { readonly remark: string | null; readonly onLoggedIn: () => void }

export function LogIn({ remark, onLoggedIn }: Props) {
  const [key, setKey] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const logIn = async () => {
    setBusy(true)
    try {
      await createClient({ baseUrl: new URL('.', location.href).href, apiKey: key.trim() }).createSession()
      setKey('')
      onLoggedIn()
    } catch (failure) {
      setFault(faultOf(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="alone">
      <form
        class="card login"
        onSubmit={event => {
          event.preventDefault()
          void logIn()
        }}
      >
        <h1 class="brand">
          <img src="./icon.svg" alt="" width="28" height="28" /> Assay
        </h1>
        <p class="muted">Prices of long-tail tokens, each with its evidence.</p>
        {remark !== null && <p role="status">{remark}</p>}
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="assay_…"
          required
          value={key}
          aria-describedby="key-about"
          aria-invalid={fault !== null}
          onInput={event => setKey(event.currentTarget.value)}
        />
        <p id="key-about" class="muted small">
          It is exchanged for a session cookie and not kept. <code>npm start</code> prints one.
        </p>
        <p role="alert" class="fault">
          {fault}
        </p>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Logging in …' : 'Log in'}
        </button>
      </form>
    </main>
  )
}

function faultOf(failure: unknown): string {
  if (failure instanceof UnauthenticatedError)
    return 'This key is not valid here. Check that you copied all of it.'
  if (failure instanceof ForbiddenError)
    return 'This key may neither read nor stream. Use one with the scope read.'
  if (failure instanceof RateLimitedError)
    return `Too many attempts. Wait ${Math.ceil((failure.retryAfterMs ?? 1000) / 1000)} seconds.`
  return failure instanceof Error ? failure.message : String(failure)
}
