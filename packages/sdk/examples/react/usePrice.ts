/**
 * A React hook: the quote of a token, asked for again every few seconds while a component shows it. A page of another
 * origin needs that origin in `access.cors_origins`, and a key with the scope `read` that its visitors may see.
 */
import { useEffect, useState } from 'react'
import { AssayError, type Client, type TokenQuote } from '@assay/sdk'

export type Token = { readonly chain_id: number; readonly token_address: `0x${string}` }
/** `error` says why there is no answer; a quote without a price has its own reason. */
export type Shown = { readonly quote: TokenQuote | null; readonly error: string | null }

export function usePrice(client: Client, { chain_id, token_address }: Token, everyMs = 2000): Shown {
  const [shown, setShown] = useState<Shown>({ quote: null, error: null })
  useEffect(() => {
    setShown({ quote: null, error: null })
    const ending = new AbortController()
    const { signal } = ending
    let timer: ReturnType<typeof setTimeout>
    const ask = async () => {
      let waitMs = everyMs
      try {
        setShown({ quote: await client.quoteToken({ chain_id, token_address }, { signal }), error: null })
      } catch (failure) {
        if (signal.aborted) return
        setShown({ quote: null, error: failure instanceof Error ? failure.message : String(failure) })
        // With a wrong key, say, asking again changes nothing.
        if (!(failure instanceof AssayError && failure.retryable)) return
        waitMs = Math.max(everyMs, failure.retryAfterMs ?? 0)
      }
      if (!signal.aborted) timer = setTimeout(() => void ask(), waitMs)
    }
    void ask()
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [client, chain_id, token_address, everyMs])
  return shown
}
