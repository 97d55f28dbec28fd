/**
 * Optional columns of a token list (`include=change,spark,depth`): read for a whole page at once, so that a table of a
 * thousand tokens takes three reads of the store.
 */
import { exact } from '@assay/sdk'
import { RequestError } from '../plumbing/apiError.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { changeFrom, lookedBackTo, priceIn } from './priceChange.ts'

const COLUMNS = ['change', 'spark', 'depth'] as const
export type Column = (typeof COLUMNS)[number]

const SPARK_POINTS = 24
const HOUR_MS = 3_600_000

type Listed = {
  readonly token_address: string
  readonly price: { readonly state: string } | null
}
type Priced = Parameters<typeof changeFrom>[0]

/** The requested columns, without repeats. */
export function columnsIn(text: string | null): ReadonlySet<Column> {
  const names = text === null ? [] : text.split(',')
  const wanted = new Set(names)
  if (wanted.size !== names.length || names.some(name => !(COLUMNS as readonly string[]).includes(name)))
    throw new RequestError(
      400,
      `include is ${JSON.stringify(text?.slice(0, 60))}; expected any of ${COLUMNS.join(', ')}, each once, separated by commas`,
    )
  return wanted as ReadonlySet<Column>
}

export async function withColumns<Token extends Listed>(
  { store, clock }: Pick<HttpContext, 'store' | 'clock'>,
  chainId: number,
  tokens: readonly Token[],
  columns: ReadonlySet<Column>,
): Promise<readonly object[]> {
  if (columns.size === 0 || tokens.length === 0) return tokens
  const nowMs = clock.nowMs()
  const [changes, sparks, depths] = await Promise.all([
    columns.has('change') ? changesOf(store, chainId, tokens) : null,
    columns.has('spark') ? sparksOf(store, chainId, tokens, nowMs) : null,
    columns.has('depth')
      ? store.readDepths(
          chainId,
          tokens.map(({ token_address }) => token_address),
        )
      : null,
  ])
  return tokens.map((token, at) => ({
    ...token,
    ...(changes === null ? {} : { change: changes[at] }),
    ...(sparks === null ? {} : { spark: sparks[at] }),
    ...(depths === null ? {} : { depth_microusd: depths[at] }),
  }))
}

type Store = HttpContext['store']

async function changesOf(
  store: Store,
  chainId: number,
  tokens: readonly Listed[],
): Promise<readonly object[]> {
  const moments = tokens.flatMap(({ token_address: tokenAddress, price }) =>
    price?.state === 'PRICED'
      ? lookedBackTo(price as unknown as Priced).map(ms => ({ tokenAddress, ms }))
      : [],
  )
  const found = (await store.readPricesAt(chainId, moments)).values()
  return tokens.map(({ price }) => {
    if (price?.state !== 'PRICED') return null
    const [hour, day] = [found.next().value ?? null, found.next().value ?? null]
    return changeFrom(price as unknown as Priced, hour, day)
  }) as readonly object[]
}

/** Prices an hour apart, oldest first, the last one current; null where there was none. */
async function sparksOf(
  store: Store,
  chainId: number,
  tokens: readonly Listed[],
  nowMs: number,
): Promise<readonly (readonly (string | null)[])[]> {
  const times = Array.from({ length: SPARK_POINTS }, (_, at) => nowMs - (SPARK_POINTS - 1 - at) * HOUR_MS)
  const found = await store.readPricesAt(
    chainId,
    tokens.flatMap(({ token_address: tokenAddress }) => times.map(ms => ({ tokenAddress, ms }))),
  )
  return tokens.map((_, row) =>
    times.map((ms, at) => {
      const then = found[row * SPARK_POINTS + at] ?? null
      const price = then === null ? null : priceIn(then, ms)
      return price === null ? null : exact.format(exact.from(price))
    }),
  )
}
