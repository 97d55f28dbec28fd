/** What is known under an address, chain by chain and never merged; or tokens whose symbol has the text in it. */
import { isAddress, type SearchResult } from '@assay/sdk'
import { useAnswer } from './answer.ts'
import { chainName, shortAddress } from './format.ts'
import { type Live, useLive } from './live.ts'
import { ErrorNote, Loading } from './parts/note.tsx'
import { hrefOf } from './place.ts'

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
  const { value, failure, reload } = useAnswer(address, 0, signal =>
    live.client.search({ address: address as `0x${string}` }, { signal }),
  )
  if (failure !== null) return <ErrorNote failure={failure} onRetry={reload} />
  if (value === null) return <Loading what="the answer" />
  return <Found live={live} address={address} found={value} />
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
      <ul class="plain">
        {found.tokens.map(token => (
          <li key={`t${token.chain_id}`}>
            <a href={hrefOf.token(token.chain_id, token.token_address)}>
              {token.symbol ?? shortAddress(token.token_address)}
            </a>{' '}
            token on {nameIn(live, token.chain_id)} <span class="muted">{token.state.toLowerCase()}</span>
          </li>
        ))}
        {found.pools.map(pool => (
          <li key={`p${pool.chain_id}`}>
            <a href={hrefOf.pool(pool.chain_id, pool.pool_address)}>
              {live.symbol(pool.chain_id, pool.token0.token_address)} /{' '}
              {live.symbol(pool.chain_id, pool.token1.token_address)}
            </a>{' '}
            pool of {pool.deployment_id} on {nameIn(live, pool.chain_id)}
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
        No token here has that in its symbol. An address finds more: it is looked up on every chain.
      </p>
    )
  return (
    <ul class="plain">
      {found.map(({ key, token }) => (
        <li key={key}>
          <a href={hrefOf.token(token.chain_id, token.token_address)}>{token.symbol}</a> on{' '}
          {nameIn(live, token.chain_id)} <code class="muted">{shortAddress(token.token_address)}</code>
        </li>
      ))}
    </ul>
  )
}

function nameIn(live: Live, chainId: number): string {
  const held = live.chains.get(chainId)
  return held === undefined ? `chain ${chainId}` : chainName(held.chain.name)
}
