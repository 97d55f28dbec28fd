/** The hook in a page: a form for a service, its key and a token, and the price as it changes. */
import { type FormEvent, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { type Client, createClient } from '@assay/sdk'
import { type Token, usePrice } from './usePrice.ts'

type Fields = {
  readonly service: string
  readonly key: string
  readonly chain: string
  readonly token: `0x${string}`
}
type Chosen = { readonly client: Client; readonly token: Token }

function Price({ client, token }: Chosen) {
  const { quote, error } = usePrice(client, token)
  if (error !== null) return <p role="alert">{error}</p>
  if (quote === null) return <p>asking …</p>
  if (quote.state === 'PENDING') return <p>being looked up: {quote.stage}</p>
  if (quote.state === 'UNPRICED') return <p>no price: {quote.reason}</p>
  return (
    <p>
      <output>{quote.price_usd.display}</output> USD, confidence {quote.confidence.score}
    </p>
  )
}

function Page() {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { service, key, chain, token } = Object.fromEntries(new FormData(event.currentTarget)) as Fields
    const client = createClient({ baseUrl: service, apiKey: key })
    setChosen({ client, token: { chain_id: Number(chain), token_address: token } })
  }
  return (
    <form onSubmit={choose}>
      <label>
        Service <input name="service" type="url" defaultValue="http://127.0.0.1:8080" />
      </label>
      <label>
        Key <input name="key" type="password" autoComplete="off" required />
      </label>
      <label>
        Chain <input name="chain" defaultValue="1" inputMode="numeric" required />
      </label>
      <label>
        Token <input name="token" placeholder="0x…" required />
      </label>
      <button>Show</button>
      {chosen !== null && <Price {...chosen} />}
    </form>
  )
}

createRoot(document.body.appendChild(document.createElement('main'))).render(<Page />)
