/**
 * A token in a browser: its price as it changes, the state of stream and feed, and the price recomputed here on
 * demand.
 *
 * The page must have the same origin as the service, like the cookie: serve the built folder behind the same proxy.
 * The key is exchanged for a session once and then discarded; a browser's WebSocket could not send it anyway.
 */
import { createClient, type FollowedToken, type Follower, verify } from '@assay/sdk'

const baseUrl = location.origin
const client = createClient({ baseUrl })
const find = <Found extends Element>(selector: string): Found => {
  const found = document.querySelector<Found>(selector)
  if (found === null) throw new Error(`the page has no ${selector}`)
  return found
}
const form = find<HTMLFormElement>('#follow')
const show = (id: string, text: string): void => {
  find(`#${id}`).textContent = text
}
const asked = () => {
  const fields = new FormData(form)
  const text = (name: string) => {
    const value = fields.get(name)
    return typeof value === 'string' ? value : ''
  }
  return {
    key: text('key'),
    chain_id: Number(text('chain')),
    token_address: text('token') as `0x${string}`,
  }
}

let follower: Follower | null = null

async function follow(): Promise<void> {
  const { key, chain_id, token_address } = asked()
  if (key !== '') await createClient({ baseUrl, apiKey: key }).createSession()
  find<HTMLInputElement>('[name=key]').value = ''
  follower?.close()
  follower = client.follow({ chain_id, token: token_address })
  await follower.run({
    onStatus: (status, reason) => show('status', reason === null ? status : `${status} (${reason})`),
    onToken: ({ price }) => showPrice(price),
    onHealth: ({ status }) => show('health', status),
  })
}

function showPrice(price: FollowedToken['price']): void {
  if (price === null) show('price', 'not evaluated yet')
  else if (price.state === 'PRICED')
    show('price', `${price.price_usd.display} USD, confidence ${price.confidence.score}`)
  else show('price', `none: ${price.reason}`)
}

async function check(): Promise<void> {
  const { chain_id, token_address } = asked()
  const quote = await client.quoteToken({ chain_id, token_address })
  if (quote.state === 'PENDING') return show('verdict', 'nothing to verify yet')
  const policy = await client.fetchPolicy(quote.policy_version)
  const { verified, checks, differences } = await verify(quote, { policy })
  show(
    'verdict',
    verified ? `verified: ${checks} numbers` : `differs: ${differences.map(({ path }) => path).join(', ')}`,
  )
}

const failed = (id: string) => (failure: unknown) => show(id, String(failure))
form.addEventListener('submit', event => {
  event.preventDefault()
  follow().catch(failed('status'))
})
find('#verify').addEventListener('click', () => void check().catch(failed('verdict')))
