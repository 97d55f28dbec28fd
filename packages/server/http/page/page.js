/** Logs in with a key, lists tokens with their live price, score and age, and keeps them current over the stream. */

const element = id => document.getElementById(id)
const tokens = new Map()
let socket = null
let closedByUs = false

element('login').addEventListener('submit', event => {
  event.preventDefault()
  void logIn()
})

async function logIn() {
  const key = element('key').value.trim()
  const answer = await fetch('/v1/session', { method: 'POST', headers: { authorization: `Bearer ${key}` } })
  if (!answer.ok) {
    element('fault').textContent = answer.status === 401 ? 'This key is not valid here.' : answer.status === 403 ? 'This key may not read prices.' : `The service answered ${answer.status}.`
    return
  }
  element('key').value = ''
  element('fault').textContent = ''
  await start()
}

element('logout').addEventListener('click', () => void logOut())

async function logOut() {
  closedByUs = true
  socket?.close()
  await fetch('/v1/session', { method: 'DELETE' })
  location.reload()
}

async function start() {
  const { chains } = await read('/v1/chains')
  for (const chain of chains) for (const token of await allTokens(chain.chain_id)) tokens.set(`${chain.chain_id}/${token.token_id}`, { chain, token, price: token.price })
  element('login').hidden = true
  element('prices').hidden = false
  draw()
  follow(chains.map(chain => chain.chain_id).sort((a, b) => a - b))
}

async function allTokens(chainId) {
  const all = []
  for (let cursor = null; ; ) {
    const page = await read(`/v1/tokens?chain_id=${chainId}${cursor === null ? '' : `&cursor=${cursor}`}`)
    all.push(...page.tokens)
    if (page.next_cursor === null) return all
    cursor = page.next_cursor
  }
}

/** Live records; when the socket drops, the list is read afresh. */
function follow(chainIds) {
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/stream`)
  socket.addEventListener('open', () => {
    socket.send(JSON.stringify({ filter: { chain_ids: chainIds, pool_ids: [], token_ids: [] }, resume_cursor: null }))
    say('live')
  })
  socket.addEventListener('message', event => take(JSON.parse(event.data)))
  socket.addEventListener('close', () => {
    if (closedByUs) return
    say('reconnecting')
    setTimeout(() => start().catch(() => follow(chainIds)), 1000 + Math.random() * 1000)
  })
}

function take({ type, routing, payload }) {
  if ((type !== 'PRICE_UPSERT' && type !== 'PRICE_RETRACT') || payload.scope !== 'token') return
  const key = `${routing.chain_id}/${payload.token_id}`
  const known = tokens.get(key)
  if (known === undefined) return
  known.price = type === 'PRICE_RETRACT' ? payload.current : payload
  known.changedAt = Date.now()
  draw()
}

function draw() {
  const rows = [...tokens.values()]
    .filter(({ token }) => token.state !== 'PENDING' || token.enrolled_at_ms !== null)
    .sort((a, b) => a.chain.chain_id - b.chain.chain_id || (a.token.symbol ?? '').localeCompare(b.token.symbol ?? ''))
    .map(rowOf)
  element('rows').replaceChildren(...rows)
}

function rowOf({ chain, token, price, changedAt }) {
  const row = document.createElement('tr')
  const isPriced = price?.state === 'PRICED'
  row.className = `${isPriced ? '' : 'unpriced'} ${Date.now() - (changedAt ?? 0) < 1000 ? 'changed' : ''}`
  const cell = (text, className = '') => {
    const item = document.createElement('td')
    item.textContent = text
    item.className = className
    row.append(item)
    return item
  }
  cell(chain.name)
  cell(token.symbol ?? token.token_address).title = token.token_address
  cell(isPriced ? shown(price.price_usd.display) : 'unpriced', 'right').title = isPriced ? `${price.price_usd.numerator} / ${price.price_usd.denominator}` : ''
  const confidence = cell('')
  if (isPriced) {
    const score = document.createElement('span')
    score.className = 'score'
    score.textContent = price.confidence.score
    confidence.append(score, ` ${price.confidence.label}`)
    confidence.title = price.confidence.caps.map(({ code, cap }) => `${code} ≤ ${cap}`).join('\n')
  } else confidence.textContent = price?.reason ?? 'pending'
  cell(price === null ? '' : age(Date.now() - price.evaluated_at_ms), 'right')
  return row
}

/** Ten digits are enough for the eye; the whole value is the cell's title. */
function shown(display) {
  const [whole, fraction = ''] = display.split('.')
  const kept = Math.max(2, (fraction.match(/^0*/)?.[0].length ?? 0) + Math.max(2, 8 - whole.length))
  return fraction === '' ? whole : `${whole}.${fraction.slice(0, kept)}`
}

const age = ms => (ms < 0 ? '0 s' : ms < 60_000 ? `${Math.floor(ms / 1000)} s` : ms < 3_600_000 ? `${Math.floor(ms / 60_000)} min` : `${Math.floor(ms / 3_600_000)} h`)
const say = text => {
  element('status').textContent = text
}

async function read(path) {
  const answer = await fetch(path)
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
  return answer.json()
}

setInterval(draw, 1000)
// A session that is still open needs no key.
if ((await fetch('/v1/session')).ok) await start()
