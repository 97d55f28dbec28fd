/**
 * The state as text, entity by entity: what a commit writes and a restart reads. A state read back continues
 * exactly as the one that was written; indexes are rebuilt, never stored.
 *
 * JSON, with a bigint as a string that starts with `#`; a string that starts with `#` gets a second one.
 */
import * as tickBook from './amm/tickBook.ts'
import { assert } from './assert.ts'
import type { Address } from './chain/block.ts'
import { type BookUndo, type Journal, openJournal } from './chain/journal.ts'
import { enterPool } from './chain/registry.ts'
import { viewFrom, viewText } from './anchorText.ts'
import { createState } from './createState.ts'
import type { ExternalDepth } from './input.ts'
import type { Policy } from './policy/policy.ts'
import { policyVersion } from './policy/policyVersion.ts'
import { QuoteTexts } from './price/publish/quoteTexts.ts'
import * as temporal from './memory/temporalTape.ts'
import type { Change } from './rules/temporalMedian.ts'
import { fileDepths, fileReferences } from './memory/filing.ts'
import type { ChainSetup } from './setup.ts'
import type {
  ChainPosition,
  EntityKey,
  Gap,
  KnownPool,
  Pool,
  PoolState,
  PoolTerms,
  Stable,
  State,
  Token,
} from './state.ts'

/** The text of an entity, or null when it is gone: the commit deletes it. */
export function encodeEntity(state: State, key: EntityKey): string | null {
  const [kind = '', id = ''] = key.split('/')
  switch (kind) {
    case 'chain':
      return `${write(chainImage(state.chain)).slice(0, -1)},"policy":${policyText(state.policyView.policy)}}`
    case 'coverage':
      return write([...state.coverage.values()])
    case 'pool':
      return mapped(state.pools.get(id as Address), pool => write(poolImage(pool)))
    case 'ticks':
      return mapped(state.pools.get(id as Address), ({ terms }) =>
        terms.family === 'amm_v2' ? null : write(ticksImage(terms.book)),
      )
    case 'token':
      return mapped(state.tokens.get(id as Address), token => write(token))
    case 'quote':
      return mapped(state.index.evaluations.get(id as Address), evaluation =>
        new QuoteTexts(state.setup.chainId, state.policyView.version).of(evaluation),
      )
    case 'stable':
      return mapped(state.stables.get(id as Address), stable => write(stable))
    case 'gap':
      return mapped(
        state.gaps.find(({ toBlock }) => String(toBlock) === id),
        gap => write(gap),
      )
    default:
      return mapped(
        state.journals.find(({ block }) => String(block.number) === id),
        journal => write(journalImage(journal)),
      )
  }
}

type ChainImage = Omit<ChainPosition, 'anchors'> & { readonly anchors: Readonly<Record<Address, string>> }

const chainImage = (chain: ChainPosition): ChainImage => ({
  ...chain,
  anchors: eachOf(chain.anchors, viewText),
})

const eachOf = <From, To>(
  record: Readonly<Record<Address, From>>,
  to: (from: From) => To,
): Record<Address, To> => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]))

const policyTexts = new WeakMap<Policy, string>()

/** Written with every step, and hardly ever another. */
function policyText(policy: Policy): string {
  const text = policyTexts.get(policy) ?? write(policy)
  policyTexts.set(policy, text)
  return text
}

/** Every entity of the state, for a whole snapshot. */
export function* entityKeys(state: State): Generator<EntityKey> {
  yield 'chain'
  yield 'coverage'
  for (const { address, terms } of state.pools.values()) {
    yield `pool/${address}`
    if (terms.family === 'amm_v3') yield `ticks/${address}`
  }
  for (const address of state.tokens.keys()) yield `token/${address}`
  for (const address of state.stables.keys()) yield `stable/${address}`
  for (const { block } of state.journals) yield `undo/${block.number}`
  for (const { toBlock } of state.gaps) yield `gap/${toBlock}`
}

export function decodeState(setup: ChainSetup, entities: Iterable<readonly [EntityKey, string]>): State {
  const texts = new Map(entities)
  const { policy, ...chain } = read<ChainImage & { policy: Policy }>(texts.get('chain'))
  const state = createState(setup, policy)
  state.policyView = { policy, version: policyVersion(policy) }
  // Written before it was kept: the next valuation sets it.
  state.chain = { ...chain, anchors: eachOf(chain.anchors, viewFrom), anchorUsd: chain.anchorUsd ?? {} }
  for (const each of read<ExternalDepth[]>(texts.get('coverage') ?? '[]'))
    state.coverage.set(each.token, each)
  // Tokens first: a pool is entered beside its own.
  for (const [key, text] of texts) {
    if (!key.startsWith('token/')) continue
    const token = read<Token>(text)
    state.tokens.set(token.address, token)
    fileReferences(state, token)
    state.index.dues.set(token.address, token.dueMs)
    if (token.published?.compact.state === 'PRICED') state.index.priced.add(token)
    if (token.isAged) state.index.aged.add(token.address)
  }
  for (const [key, text] of texts) {
    const address = key.split('/')[1] as Address
    if (key.startsWith('pool/')) enterPool(state, poolFrom(read(text), texts.get(`ticks/${address}`)))
    else if (key.startsWith('stable/')) state.stables.set(address, read<Stable>(text))
  }
  for (const token of state.tokens.values()) fileDepths(state, token)
  const journals = [...texts]
    .filter(([key]) => key.startsWith('undo/'))
    .map(([, text]) => journalFrom(read(text)))
  state.journals.push(...journals.sort((a, b) => a.block.number - b.block.number))
  const gaps = [...texts].filter(([key]) => key.startsWith('gap/')).map(([, text]) => read<Gap>(text))
  state.gaps.push(...gaps.sort((a, b) => a.toBlock - b.toBlock))
  state.index.changed.clear()
  return state
}

/** A state that was written before gaps were known of has no word about one. */
type PoolStateImage = Omit<PoolState, 'history' | 'isBeforeGap'> & {
  readonly history: readonly Change[]
  readonly isBeforeGap?: boolean
}

const stateImage = (state: PoolState): PoolStateImage => ({
  ...state,
  history: temporal.changesOf(state.history),
})
const stateFrom = (image: PoolStateImage): PoolState => ({
  ...image,
  isBeforeGap: image.isBeforeGap ?? false,
  history: temporal.restore(image.history),
})

type TermsImage =
  | Exclude<PoolTerms, { family: 'amm_v3' }>
  | Omit<Extract<PoolTerms, { family: 'amm_v3' }>, 'book'>

function termsImage(terms: PoolTerms): TermsImage {
  if (terms.family === 'amm_v2') return terms
  return { family: terms.family, feePpm: terms.feePpm, tickSpacing: terms.tickSpacing }
}

type TicksImage = {
  readonly lowest: tickBook.KnownRange['lowest']
  readonly highest: tickBook.KnownRange['highest']
  readonly entries: readonly tickBook.TickEntry[]
}

const ticksImage = (book: tickBook.TickBook): TicksImage => ({
  lowest: book.lowest,
  highest: book.highest,
  entries: [...book.entries()],
})

function termsFrom(image: TermsImage, ticks: TicksImage | null): PoolTerms {
  if (image.family === 'amm_v2') return image
  assert(ticks !== null, 'a v3 pool was stored without its ticks')
  return { ...image, book: tickBook.from(image.tickSpacing, ticks, ticks.entries) }
}

type PoolImage = Omit<KnownPool, 'state' | 'terms'> & {
  readonly state: PoolStateImage
  readonly terms: TermsImage
}

const poolImage = ({ around: _around, ...known }: Pool): PoolImage => ({
  ...known,
  state: stateImage(known.state),
  terms: termsImage(known.terms),
})

const poolFrom = (image: PoolImage, ticks: string | undefined): KnownPool => ({
  ...image,
  state: stateFrom(image.state),
  terms: termsFrom(image.terms, ticks === undefined ? null : read<TicksImage>(ticks)),
})

/** Maps and sets as lists of their entries. */
type JournalImage = Pick<Journal, 'block' | 'parentHash' | 'before' | 'swaps'> & {
  readonly created: readonly Address[]
  readonly pools: readonly (readonly [Address, PoolStateImage])[]
  readonly books: readonly BookImage[]
  readonly publishedPools: readonly Address[]
  readonly publishedTokens: readonly Address[]
  readonly stables: readonly (readonly [Address, Stable | null])[]
  readonly decimals: readonly (readonly [Address, Token['decimals']])[]
}
type BookImage =
  | Extract<BookUndo, { kind: 'change' }>
  | {
      readonly kind: 'reload'
      readonly pool: Address
      readonly terms: TermsImage
      readonly ticks: TicksImage | null
    }

function journalImage(journal: Journal): JournalImage {
  return {
    block: journal.block,
    parentHash: journal.parentHash,
    before: journal.before,
    swaps: journal.swaps,
    created: [...journal.created],
    pools: [...journal.pools].map(([address, state]) => [address, stateImage(state)] as const),
    books: journal.books.map(undo =>
      undo.kind === 'change'
        ? undo
        : {
            ...undo,
            terms: termsImage(undo.terms),
            ticks: undo.terms.family === 'amm_v3' ? ticksImage(undo.terms.book) : null,
          },
    ),
    publishedPools: [...journal.publishedPools],
    publishedTokens: [...journal.publishedTokens],
    stables: [...journal.stables],
    decimals: [...journal.decimals],
  }
}

function journalFrom(image: JournalImage): Journal {
  return {
    ...openJournal(image.block, image.parentHash, image.before),
    created: new Set(image.created),
    pools: new Map(image.pools.map(([address, state]) => [address, stateFrom(state)])),
    books: image.books.map(undo =>
      undo.kind === 'change' ? undo : { ...undo, terms: termsFrom(undo.terms, undo.ticks) },
    ),
    key: `undo/${image.block.number}`,
    publishedPools: new Set(image.publishedPools),
    publishedTokens: new Set(image.publishedTokens),
    stables: new Map(image.stables),
    decimals: new Map(image.decimals),
    swaps: [...image.swaps],
  }
}

function write(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint') return `#${each}`
    return typeof each === 'string' && each.startsWith('#') ? `#${each}` : each
  })
}

function read<Value>(text: string | undefined): Value {
  assert(text !== undefined, 'an entity the state cannot do without is missing')
  return revived(JSON.parse(text)) as Value
}

/** In place: a function handed to JSON.parse takes several times as long. */
function revived(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith('#')) return value
    return value.startsWith('##') ? value.slice(1) : BigInt(value.slice(1))
  }
  if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) {
      const meant = revived(each)
      if (meant !== each) (value as Record<string, unknown>)[key] = meant
    }
  return value
}

const mapped = <From, To>(value: From | null | undefined, map: (value: From) => To): To | null =>
  value === null || value === undefined ? null : map(value)
