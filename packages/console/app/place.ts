/**
 * The current place in the console: the part of the address after `#`, so that every page can be linked and reloaded.
 */
import { useEffect, useState } from 'preact/hooks'

export const OPERATIONS_TABS = [
  'health',
  'keys',
  'webhooks',
  'policy',
  'incidents',
  'backfill',
  'audit',
] as const
export type OperationsTab = (typeof OPERATIONS_TABS)[number]

export type Place =
  | { readonly page: 'overview' | 'stream' }
  | { readonly page: 'operations'; readonly tab: OperationsTab }
  | { readonly page: 'token' | 'pool'; readonly chainId: number; readonly address: string }
  | { readonly page: 'search'; readonly text: string }
  | { readonly page: 'unknown' }

export const hrefOf = {
  overview: '#/',
  stream: '#/stream',
  operations: (tab: OperationsTab = 'health') => `#/operations/${tab}`,
  token: (chainId: number, address: string) => `#/token/${chainId}/${address}`,
  pool: (chainId: number, address: string) => `#/pool/${chainId}/${address}`,
  search: (text: string) => `#/search/${encodeURIComponent(text)}`,
} as const

const TOKEN = /^0x[0-9a-fA-F]{40}$/
/** By its address, or by the 32 bytes that identify a pool without one. */
const POOL = /^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/

export function placeIn(hash: string): Place {
  const [path = ''] = hash.split('?')
  const [page = '', ...rest] = path.replace(/^#\/?/, '').split('/')
  if (page === '') return { page: 'overview' }
  if (page === 'stream') return { page }
  if (page === 'operations') return { page, tab: OPERATIONS_TABS.find(tab => tab === rest[0]) ?? 'health' }
  const [chain = '', address = ''] = rest
  if (
    (page === 'token' || page === 'pool') &&
    /^[1-9]\d{0,15}$/.test(chain) &&
    (page === 'pool' ? POOL : TOKEN).test(address)
  )
    return { page, chainId: Number(chain), address: address.toLowerCase() }
  if (page === 'search') return { page, text: decoded(chain) }
  return { page: 'unknown' }
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  return placeIn(hash)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The settings of a page, after the `?` of its address: a link to it shows the same view. */
export const settingsIn = (hash: string): URLSearchParams => new URLSearchParams(hash.split('?')[1] ?? '')

/** Stored in the address without a history entry; defaults are omitted. */
export function keepSettings(settings: Readonly<Record<string, string | null>>): void {
  const kept = new URLSearchParams()
  for (const [name, value] of Object.entries(settings)) if (value !== null) kept.set(name, value)
  const [path = ''] = location.hash.split('?')
  const text = kept.toString()
  history.replaceState(null, '', `${path === '' ? '#/' : path}${text === '' ? '' : `?${text}`}`)
}
