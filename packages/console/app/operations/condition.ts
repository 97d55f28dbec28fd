/**
 * Conditions of webhooks: converts user input to the wire format, and back to words. Nothing is guessed: an error
 * states what was expected.
 */
import { isAddress, type WebhookCondition } from '@assay/sdk'
import type { Live } from '../live.ts'

export const CONDITION_NAMES: Readonly<Record<WebhookCondition['kind'], string>> = {
  price_crosses: 'The price crosses a value',
  price_moves: 'The price moves by a percentage',
  score_below: 'The score falls below',
  retracted: 'A price is withdrawn',
  health: 'The health of the chain changes',
  sellability: 'Whether it can be sold changes',
}

export type ConditionKind = keyof typeof CONDITION_NAMES

/** The fields of the form; the kind decides which of them count. */
export type Typed = {
  readonly kind: ConditionKind
  readonly chainId: number
  /** A symbol or an address. */
  readonly token: string
  /** Dollars, percent or a score. */
  readonly value: string
  readonly direction: '' | 'up' | 'down'
}

export function conditionIn(live: Live, { kind, chainId, token, value, direction }: Typed): WebhookCondition {
  const chain = { chain_id: chainId }
  if (kind === 'health') return { kind, ...chain }
  if (token.trim() === '') {
    if (kind === 'retracted') return { kind, ...chain }
    throw new Error('Name the token, by its symbol or its address.')
  }
  const of = { ...chain, token_address: tokenIn(live, chainId, token.trim()) }
  if (kind === 'retracted' || kind === 'sellability') return { kind, ...of }
  const text = value.trim()
  if (kind === 'price_crosses') {
    if (!/^\d+(\.\d+)?$/.test(text))
      throw new Error(`The price is "${text}"; expected dollars, such as 2500 or 0.031.`)
    return { kind, ...of, price_usd: text, ...(direction === '' ? {} : { direction }) }
  }
  if (kind === 'price_moves') return { kind, ...of, bps: basisPointsIn(text) }
  if (!/^(?:[1-9]|10)$/.test(text)) throw new Error(`The score is "${text}"; expected 1 to 10.`)
  return { kind, ...of, score: Number(text) }
}

function basisPointsIn(text: string): number {
  const [, whole = '', part = ''] = /^(\d{1,4})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  const bps = Number(whole) * 100 + Number(part.padEnd(2, '0'))
  if (whole === '' || bps === 0)
    throw new Error(
      `The percentage is "${text}"; expected a value above 0 with at most two decimals, such as 2.5.`,
    )
  return bps
}

function tokenIn(live: Live, chainId: number, text: string): `0x${string}` {
  if (isAddress(text)) return text
  const named = [...live.rows.values()].filter(
    ({ token }) => token.chain_id === chainId && token.symbol?.toLowerCase() === text.toLowerCase(),
  )
  const [only] = named
  if (only !== undefined && named.length === 1) return only.token.token_address
  throw new Error(
    `${named.length === 0 ? 'No token' : `${named.length} tokens`} of ${live.chainName(chainId)} ${named.length === 0 ? 'has' : 'have'} the symbol "${text}"; give the address.`,
  )
}

export function conditionWords(live: Live, condition: WebhookCondition): string {
  const { chain_id: chainId } = condition
  const chain = live.chainName(chainId)
  if (condition.kind === 'health') return `the health of ${chain} changes`
  if (condition.kind === 'retracted' && condition.token_address === undefined)
    return `any price on ${chain} is withdrawn`
  const token = `${live.symbol(chainId, condition.token_address as string)} on ${chain}`
  switch (condition.kind) {
    case 'price_crosses': {
      const way = condition.direction === undefined ? '' : ` on its way ${condition.direction}`
      return `${token} crosses $${condition.price_usd}${way}`
    }
    case 'price_moves':
      return `${token} moves by ${condition.bps / 100}%`
    case 'score_below':
      return `the score of ${token} falls below ${condition.score}`
    case 'retracted':
      return `a price of ${token} is withdrawn`
    case 'sellability':
      return `whether ${token} can be sold changes`
  }
}
