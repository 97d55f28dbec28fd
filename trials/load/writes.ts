/**
 * `npm run load:writes`: the data that a swap of the synthetic market writes, by kind. Texts as in the commit and,
 * where the store compresses them, as on disk. Nothing is timed, so the result is the same on any machine.
 */
import { createState, type Input, step } from '@assay/engine'
import { Load, newMarket } from '../../bench/engineLoad.ts'
import { packBody } from '../../packages/server/store/eventBody.ts'
import { packRecords } from '../../packages/server/store/logRow.ts'
import { packQuotes } from '../../packages/server/store/quoteBook.ts'
import { commitOf } from '../../packages/server/worker/commitOf.ts'
import { bringUp } from '../../packages/world/market/bringUp.ts'
import { commandLine } from '../commandLine.ts'

commandLine('npm run load:writes', {})

const MARKET = { pools: 4_000, tokens: 2_000 }
const [SWAPS, WARM_BLOCKS, BLOCKS] = [200, 400, 40]

type Kind = { rows: number; bytes: number; stored: number }

const market = newMarket(MARKET)
const state = createState(market.setup)
const stored = { pools: new Set<string>(), tokens: new Map<string, string>() }
const kinds = new Map<string, Kind>()

function add(name: string, bytes: number, onDisk = bytes, rows = 1): void {
  const kind = kinds.get(name) ?? { rows: 0, bytes: 0, stored: 0 }
  kinds.set(name, { rows: kind.rows + rows, bytes: kind.bytes + bytes, stored: kind.stored + onDisk })
}

const commitAfter = (input: Input) => {
  const tipHash = state.chain.tip?.hash ?? null
  return commitOf(state, input, step(state, input), { tipHash }, stored)
}

/** The log, current states and quotes of a commit; returns the number of swaps. */
function count({ records, entities, events }: ReturnType<typeof commitAfter>): number {
  for (const { key, text } of entities) add(`entity ${key.split('/')[0]}`, text?.length ?? 0)
  for (const { body } of events) add('pool event', body.length, packBody(body).length)
  const sealed = records.map((record, at) => record.seal(at + 1, at, 'null'))
  const envelopes = sealed.map(({ envelope }) => envelope)
  const packed = packRecords(1, envelopes).reduce((sum, row) => sum + row.packed.length, 0)
  if (records.length > 0) add('log', envelopes.join('\n').length, packed, records.length)
  for (const [at, { subject }] of records.entries())
    if (subject.kind === 'token' || subject.kind === 'pool')
      add(`current ${subject.kind}`, sealed[at]?.current?.length ?? 0)
  const quotes = records.map(({ quote }) => quote)
  const whole = quotes.reduce((sum, quote) => sum + (quote?.text.length ?? 0), 0)
  add('full quotes', whole, packQuotes(quotes)?.packed.length ?? 0, quotes.filter(Boolean).length)
  return records.filter(({ subject }) => subject.kind === 'none').length
}

const load = new Load(market, { swapsPerBlock: SWAPS })
for (const input of bringUp(market)) commitAfter(input)
for (const input of load.next(WARM_BLOCKS)) commitAfter(input)
let swaps = 0
for (const input of load.next(BLOCKS)) swaps += count(commitAfter(input))

const perSwap = (bytes: number) => Math.round(bytes / swaps).toLocaleString('en')
console.log(`${swaps} swaps in ${BLOCKS} blocks of ${MARKET.pools} pools and ${MARKET.tokens} tokens`)
console.log('| kind | rows a swap | bytes of text a swap | bytes stored a swap |\n| --- | --- | --- | --- |')
for (const [name, { rows, bytes, stored: onDisk }] of [...kinds].sort(([, a], [, b]) => b.stored - a.stored))
  console.log(`| ${name} | ${(rows / swaps).toFixed(2)} | ${perSwap(bytes)} | ${perSwap(onDisk)} |`)
