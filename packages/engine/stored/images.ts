/** Entities as plain values: the part that text can hold, and how to restore the rest. */
import { adapterOf, type PoolTerms } from '../amm/families.ts'
import { type BookUndo, type Journal, openJournal } from '../chain/journal.ts'
import type { KnownPool, Pool, Stable } from '../entities.ts'
import * as tickBook from '../amm/tickBook.ts'
import { assert } from '../assert.ts'
import type { Address } from '../chain/block.ts'
import { keptFrom } from '../memory/pastBounds.ts'
import type * as temporal from '../memory/temporalTape.ts'
import type { Kept, Noted, Running } from '../rules/ownPast.ts'
import type { ChainPosition } from '../state.ts'
import type { Count } from '../units.ts'
import { viewFrom, viewText } from './anchorText.ts'
import { deltaOf, earlierOf, momentsIn, type StoredList } from './listDelta.ts'
import { type DeltaState, deltaState, isSameRatio, stateFromDelta } from './stateImage.ts'

/** Terms without the book of ticks, which is stored separately. */
type TermsImage = PoolTerms extends infer T ? Omit<T, 'book'> & Pick<PoolTerms, 'family'> : never

function termsImage(terms: PoolTerms): TermsImage {
  if (!('book' in terms)) return terms
  const { book: _book, ...image } = terms
  return image
}

export type TicksImage = {
  readonly lowest: tickBook.KnownRange['lowest']
  readonly highest: tickBook.KnownRange['highest']
  readonly entries: readonly tickBook.TickEntry[]
}

/** The running minute alone: the full minutes change once a minute, and are stored separately. */
export type PastImage = Omit<Running, 'open'> & { readonly open: readonly Omit<Noted, 'approx'>[] }
export type MinutesImage = readonly Omit<Kept, 'approx'>[]

const notedImage = ({ fromMs, ratio, y, worth }: Noted): Omit<Noted, 'approx'> => ({
  fromMs,
  ratio,
  y,
  worth,
})

export const pastImage = ({ open, touchedMs }: Running): PastImage => ({
  open: open.map(notedImage),
  touchedMs,
})
export const minutesImage = (minutes: readonly Kept[]): MinutesImage =>
  minutes.map(({ fromMs, ratio, y }) => ({ fromMs, ratio, y }))

export const pastFrom = ({ open, touchedMs }: PastImage): Running => ({ open: open.map(keptFrom), touchedMs })
export const minutesFrom = (image: MinutesImage): readonly Kept[] => image.map(keptFrom)

/** An answer from before reading times were kept counts as read at its block. */
export const stableFrom = (image: Omit<Stable, 'good'> & Partial<Pick<Stable, 'good'>>): Stable => ({
  ...image,
  good:
    image.good ?? (image.lastGood === null ? [] : [{ answer: image.lastGood, readMs: image.block.timeMs }]),
})

/** Null for a family without ticks. */
export function ticksOf(terms: PoolTerms): TicksImage | null {
  const book = adapterOf(terms.family).book(terms)
  return book === null ? null : { lowest: book.lowest, highest: book.highest, entries: [...book.entries()] }
}

function termsFrom(image: TermsImage, ticks: TicksImage | null): PoolTerms {
  const adapter = adapterOf(image.family)
  const { lowest, highest, entries } = ticks ?? NO_TICKS
  const terms = adapter.restored(image, { range: { lowest, highest }, entries })
  assert(ticks !== null || adapter.book(terms) === null, `a pool of ${image.family} without its ticks`)
  return terms
}
const NO_TICKS: TicksImage = { ...tickBook.FULL_RANGE, entries: [] }

export type PoolImage = Omit<KnownPool, 'state' | 'terms'> & {
  readonly state: DeltaState
  readonly terms: TermsImage
}

export const poolImage = ({ around, ...known }: Pool): PoolImage => ({
  ...known,
  state: deltaState(known.state, around.base),
  terms: termsImage(known.terms),
})

export const poolFrom = (image: PoolImage, ticks: TicksImage | null, base: temporal.History): KnownPool => ({
  ...image,
  state: stateFromDelta(image.state, base),
  terms: termsFrom(image.terms, ticks),
})

/** Histories after a block: those before it are stored as differences from them. */
export type After = {
  readonly history: (pool: Address) => temporal.History | undefined
  readonly past: (token: Address) => Running | null | undefined
}

type UndonePast = Omit<PastImage, 'open'> & { readonly open: StoredList<Omit<Noted, 'approx'>> }

const isSameNoted = (a: Omit<Noted, 'approx'>, b: Omit<Noted, 'approx'>): boolean =>
  a.y === b.y && isSameRatio(a.ratio, b.ratio) && isSameRatio(a.worth, b.worth)

function undonePast({ open, touchedMs }: Running, later: Running | null | undefined): UndonePast {
  const other = later?.open ?? []
  const isSame = (at: Count, from: Count) => isSameNoted(open[at] as Noted, other[from] as Noted)
  const { itemAt, ...own } = momentsIn(open)
  const delta = deltaOf({ ...own, itemAt: at => notedImage(itemAt(at)) }, momentsIn(other), isSame)
  return { open: delta, touchedMs }
}

type Listed<Field> =
  Field extends Map<infer Key, infer Value>
    ? readonly (readonly [Key, Value])[]
    : Field extends Set<infer Item>
      ? readonly Item[]
      : Field

/** Maps and sets as lists of their entries. */
type ListedJournal = { readonly [Name in keyof Journal]: Listed<Journal[Name]> }

export type JournalImage = Omit<
  ListedJournal,
  'key' | 'pools' | 'books' | 'sellability' | 'pasts' | 'minutes'
> & {
  readonly pools: readonly (readonly [Address, DeltaState])[]
  readonly books: readonly BookImage[]
  /** Absent in journals from before sellability was read. */
  readonly sellability?: ListedJournal['sellability']
  /** Absent in journals from before pasts were kept. */
  readonly pasts?: readonly (readonly [Address, UndonePast | null])[]
  readonly minutes?: readonly (readonly [Address, MinutesImage])[]
}
type BookImage =
  | Extract<BookUndo, { kind: 'change' }>
  | {
      readonly kind: 'reload'
      readonly pool: Address
      readonly terms: TermsImage
      readonly ticks: TicksImage | null
    }

export const journalImage = ({ key: _key, ...journal }: Journal, after: After) => ({
  ...journal,
  pools: eachIn(journal.pools, (state, pool) => deltaState(state, after.history(pool))),
  books: journal.books.map(undo =>
    undo.kind === 'change' ? undo : { ...undo, terms: termsImage(undo.terms), ticks: ticksOf(undo.terms) },
  ),
  sellability: journal.sellability.size === 0 ? undefined : journal.sellability,
  pasts: eachIn(journal.pasts, (past, token) => past && undonePast(past, after.past(token))),
  minutes: eachIn(journal.minutes, minutesImage),
})

export function journalFrom(image: JournalImage, after: After): Journal {
  const pastState = ({ open, touchedMs }: UndonePast, token: Address) =>
    pastFrom({ open: earlierOf(open, after.past(token)?.open ?? []), touchedMs })
  return {
    ...openJournal(image.block, image.parentHash, image.before),
    swaps: [...image.swaps],
    created: new Set(image.created),
    pools: new Map(eachIn(image.pools, (state, pool) => stateFromDelta(state, after.history(pool)))),
    books: image.books.map(undo =>
      undo.kind === 'change' ? undo : { ...undo, terms: termsFrom(undo.terms, undo.ticks) },
    ),
    publishedPools: new Set(image.publishedPools),
    publishedTokens: new Set(image.publishedTokens),
    stables: new Map(eachIn(image.stables, stable => stable && stableFrom(stable))),
    decimals: new Map(image.decimals),
    sellability: new Map(image.sellability),
    pasts: new Map(eachIn(image.pasts ?? [], (past, token) => past && pastState(past, token))),
    minutes: new Map(eachIn(image.minutes ?? [], minutesFrom)),
  }
}

/** The entries with other values. */
const eachIn = <Key, From, To>(
  entries: Iterable<readonly [Key, From]>,
  to: (from: From, key: Key) => To,
): [Key, To][] => [...entries].map(([key, from]) => [key, to(from, key)])

export type ChainImage = Omit<ChainPosition, 'anchors'> & {
  readonly anchors: Readonly<Record<Address, string>>
}

export const chainImage = (chain: ChainPosition): ChainImage => ({
  ...chain,
  anchors: eachOf(chain.anchors, viewText),
})

const eachOf = <From, To>(
  record: Readonly<Record<Address, From>>,
  to: (from: From) => To,
): Record<Address, To> => Object.fromEntries(eachIn(Object.entries(record), to))

export const chainFrom = (image: ChainImage): ChainPosition => ({
  ...image,
  anchors: eachOf(image.anchors, viewFrom),
  // Written before the field existed: the next valuation sets it.
  anchorUsd: image.anchorUsd ?? {},
})
