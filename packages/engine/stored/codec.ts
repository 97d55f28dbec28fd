/**
 * The state as text, entity by entity, for commits and restarts. A restored state continues exactly like the one that
 * was written; indexes are rebuilt, never stored.
 */
import type { EntityKey, Token } from '../entities.ts'
import type { Address } from '../chain/block.ts'
import { enterPool } from '../chain/registry.ts'
import type { Journal } from '../chain/journal.ts'
import { createState } from '../createState.ts'
import type { ExternalDepth } from '../input.ts'
import { fileDepths, fileReferences } from '../memory/filing.ts'
import { changesOf, restore } from '../memory/temporalTape.ts'
import { mergePolicy } from '../policy/policyOverride.ts'
import { QuoteWriter } from '../price/publish/quoteJson.ts'
import type { ChainSetup } from '../setup.ts'
import type { Change } from '../rules/temporalWindow.ts'
import type { Gap, State } from '../state.ts'
import {
  type After,
  chainFrom,
  type ChainImage,
  chainImage,
  journalFrom,
  type JournalImage,
  journalImage,
  minutesFrom,
  type MinutesImage,
  minutesImage,
  pastFrom,
  type PastImage,
  pastImage,
  poolFrom,
  type PoolImage,
  poolImage,
  stableFrom,
  type TicksImage,
  ticksOf,
} from './images.ts'
import { read, write, writeWith } from './words.ts'

/** The text of an entity, or null when it no longer exists: the commit deletes it. */
export function encodeEntity(state: State, key: EntityKey): string | null {
  const [kind = '', id = ''] = key.split('/')
  switch (kind) {
    case 'chain':
      return write({ ...chainImage(state.chain), policy: state.policyView.policy })
    case 'coverage':
      return write([...state.coverage.values()])
    case 'pool':
      return mapped(state.pools.get(id as Address), pool => {
        const { published, ...image } = poolImage(pool)
        return writeWith(image, { published })
      })
    case 'ticks':
      return mapped(state.pools.get(id as Address), ({ terms }) => mapped(ticksOf(terms), write))
    case 'history':
      return mapped(state.pools.get(id as Address), ({ around }) =>
        mapped(around.base.open, () => write(changesOf(around.base))),
      )
    case 'token':
      return mapped(state.tokens.get(id as Address), ({ past: _past, ...token }) => write(token))
    case 'past':
      return mapped(state.tokens.get(id as Address)?.past, past => write(pastImage(past)))
    case 'minutes':
      return mapped(state.tokens.get(id as Address)?.past, ({ minutes }) => write(minutesImage(minutes)))
    case 'quote':
      return mapped(
        state.index.evaluations.get(id as Address),
        evaluation => new QuoteWriter(state.setup.chainId, state.policyView.version).of(evaluation).text,
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
        journal => {
          const { swaps, ...image } = journalImage(journal, afterBlock(state, journal))
          return writeWith(image, { swaps })
        },
      )
  }
}

/** The histories after the block of a journal; for null, after all blocks before the known journals. */
function afterBlock(state: State, journal: Journal | null): After {
  const later = state.journals.slice(journal === null ? 0 : state.journals.indexOf(journal) + 1)
  return {
    history: pool =>
      (later.find(({ pools }) => pools.has(pool))?.pools.get(pool) ?? state.pools.get(pool)?.state)?.history,
    past: token => {
      const next = later.find(({ pasts }) => pasts.has(token))
      return next === undefined ? state.tokens.get(token)?.past : next.pasts.get(token)
    },
  }
}

/** Every entity of the state, for a whole snapshot. */
export function* entityKeys(state: State): Generator<EntityKey> {
  yield 'chain'
  yield 'coverage'
  for (const { address, terms, around } of state.pools.values()) {
    yield `pool/${address}`
    if (around.adapter.book(terms) !== null) yield `ticks/${address}`
    if (around.base.open !== null) yield `history/${address}`
  }
  for (const { address, past } of state.tokens.values()) {
    yield `token/${address}`
    if (past === null) continue
    yield `past/${address}`
    yield `minutes/${address}`
  }
  for (const address of state.stables.keys()) yield `stable/${address}`
  for (const { block } of state.journals) yield `undo/${block.number}`
  for (const { toBlock } of state.gaps) yield `gap/${toBlock}`
}

export function decodeState(setup: ChainSetup, entities: Iterable<readonly [EntityKey, string]>): State {
  const texts = new Map(entities)
  const { policy: known, ...chain } = read<ChainImage & { policy: unknown }>(texts.get('chain'))
  const state = createState(setup, mergePolicy(known))
  state.chain = chainFrom(chain)
  for (const each of read<ExternalDepth[]>(texts.get('coverage') ?? '[]'))
    state.coverage.set(each.token, each)
  // Tokens first: entering a pool requires its token.
  for (const [key, text] of texts) {
    if (!key.startsWith('token/')) continue
    const stored = read<Omit<Token, 'past'>>(text)
    const token: Token = { ...stored, past: storedPast(texts, stored.address) }
    state.tokens.set(token.address, token)
    fileReferences(state, token)
    state.index.dues.set(token.address, token.dueMs)
    if (token.published?.compact.state === 'PRICED') state.index.priced.add(token)
    if (token.isAged) state.index.aged.add(token.address)
  }
  for (const [key, text] of texts) {
    const address = key.split('/')[1] as Address
    if (key.startsWith('pool/')) {
      const ticks = texts.get(`ticks/${address}`)
      const base = restore(read<readonly Change[]>(texts.get(`history/${address}`) ?? '[]'))
      const image = read<PoolImage>(text)
      const known = poolFrom(image, ticks === undefined ? null : read<TicksImage>(ticks), base)
      enterPool(state, known).around.base = base
    } else if (key.startsWith('stable/')) state.stables.set(address, stableFrom(read(text)))
  }
  for (const token of state.tokens.values()) fileDepths(state, token)
  const journals = [...texts]
    .filter(([key]) => key.startsWith('undo/'))
    .map(([, text]) => read<JournalImage>(text))
  // The newest first: each is decoded relative to its successor.
  for (const image of journals.sort((a, b) => b.block.number - a.block.number))
    state.journals.unshift(journalFrom(image, afterBlock(state, null)))
  const gaps = [...texts].filter(([key]) => key.startsWith('gap/')).map(([, text]) => read<Gap>(text))
  state.gaps.push(...gaps.sort((a, b) => a.toBlock - b.toBlock))
  state.index.changed.clear()
  return state
}

function storedPast(texts: ReadonlyMap<EntityKey, string>, token: Address): Token['past'] {
  const [past, minutes] = [texts.get(`past/${token}`), texts.get(`minutes/${token}`)]
  if (past === undefined || minutes === undefined) return null
  return { ...pastFrom(read<PastImage>(past)), minutes: minutesFrom(read<MinutesImage>(minutes)) }
}

const mapped = <From, To>(value: From | null | undefined, map: (value: From) => To): To | null =>
  value === null || value === undefined ? null : map(value)
