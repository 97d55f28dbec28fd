/** Everything known under an address, chain by chain and never merged; or tokens whose symbol contains the text. */
import { type CompactState, isAddress, type SearchResult } from '@assay/sdk'
import { useAnswer } from './answer.ts'
import { chainName, price, shortAddress, words } from './format.ts'
import { type Live, useLive } from './live.ts'
import { Answered } from './parts/answered.tsx'
import { Score } from './parts/score.tsx'
import { hrefOf } from './place.ts'
import { priceAt } from './row.ts'

type Props = { readonly live: Live; readonly text: string }

export function SearchPage({ live, text }: Props) {
  return (
    <section class="card">
      <h1>Search</h1>
      <p class="muted">
        for <code class="wrap">{text}</code>
      </p>
      {isAddress(text) ? <ByAddress live={live} address={text} /> : <BySymbol live={live} text={text} />}
    </section>
  )
}

function ByAddress({ live, address }: { readonly live: Live; readonly address: string }) {
  const answer = useAnswer(address, 0, signal =>
    live.client.search({ address: address as `0x${string}` }, { signal }),
  )
  return (
    <Answered answer={answer} what="the answer">
      {found => <Found live={live} address={address} found={found} />}
    </Answered>
  )
}

type FoundProps = { readonly live: Live; readonly address: string; readonly found: SearchResult }

function Found({ live, address, found }: FoundProps) {
  const { chains } = useLive(live)
  const knownOn = new Set(found.chains.map(chain => chain.chain_id))
  const others = [...chains.values()].filter(({ chain }) => !knownOn.has(chain.chain_id))
  return (
    <>
      {knownOn.size === 0 && (
        <p role="status">Nothing is known under this address on any chain served here.</p>
      )}
      <ul class="plain found">
        {found.tokens.map(token => (
          <li key={`t${token.chain_id}`}>
            <a href={hrefOf.token(token.chain_id, token.token_address)}>
              {token.symbol ?? shortAddress(token.token_address)}
            </a>{' '}
            token on {live.chainName(token.chain_id)} <Worth state={token.price} />
          </li>
        ))}
        {found.pools.map(pool => (
          <li key={`p${pool.chain_id}`}>
            <a href={hrefOf.pool(pool.chain_id, pool.pool_address)}>
              {live.symbol(pool.chain_id, pool.token0.token_address)} /{' '}
              {live.symbol(pool.chain_id, pool.token1.token_address)}
            </a>{' '}
            pool of {pool.deployment_id} on {live.chainName(pool.chain_id)}
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <p class="muted">
          Ask for it as a token, which makes the service look it up, on{' '}
          {others.map(({ chain }, at) => (
            <span key={chain.chain_id}>
              {at > 0 && ', '}
              <a href={hrefOf.token(chain.chain_id, address)}>{chainName(chain.name)}</a>
            </span>
          ))}
          .
        </p>
      )}
    </>
  )
}

function BySymbol({ live, text }: { readonly live: Live; readonly text: string }) {
  const wanted = text.toLowerCase()
  const found = [...useLive(live).rows.values()]
    .filter(({ token }) => token.symbol?.toLowerCase().includes(wanted) ?? false)
    .slice(0, 100)
  if (found.length === 0)
    return (
      <p role="status">
        No token here has that in its symbol. Try an address: it is looked up on every chain.
      </p>
    )
  return (
    <ul class="plain found">
      {found.map(row => (
        <li key={row.key}>
          <a href={hrefOf.token(row.token.chain_id, row.token.token_address)}>{row.token.symbol}</a> on{' '}
          {live.chainName(row.token.chain_id)}{' '}
          <code class="muted">{shortAddress(row.token.token_address)}</code>{' '}
          <Worth state={priceAt(row, Date.now(), live.feedGone(row.token.chain_id))} />
        </li>
      ))}
    </ul>
  )
}

/** The price and its confidence, or the reason why there is none. */
function Worth({ state }: { readonly state: CompactState | null }) {
  if (state?.state !== 'PRICED')
    return <span class="muted">{state === null ? 'Pending' : words(state.reason)}</span>
  return (
    <>
      <span class="number">{price(state.price_usd)}</span>{' '}
      <Score score={state.confidence.score} label={state.confidence.label} />
    </>
  )
}
