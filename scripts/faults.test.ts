/** docs/evidence/FAULTS.md has a line for every fault of the list and for every combination, and the test each line names is there. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { expectTest } from './namedTests.ts'

const ROW = /^\| (?<fault>.+?) \| .+ \| (?<test>[^|]+) \| \[.+\]\(\.\.\/\.\.\/(?<file>.+)\) \|$/

/** The list of faults: feed, reorganisations, prices, store, stream, HTTP, operator. */
const FAULTS = [
  ...'F1 F3 F4 F6 F8 F9 F10 F11 F12 F14 F15 F16 F17 F19 F21 F22 F27 F30 F31 F32'.split(' '),
  ...'R1 R2 R4 R7 R8 R9 R11 R12 R14 R16 R17'.split(' '),
  ...'P1 P3 P4 P6 P7 P8 P10 P11 P12 P15 P18'.split(' '),
  ...'S1 S3 S4 S5 S6 S7 S8 S10 S11 S12 S14 S15 S17 S19'.split(' '),
  ...'W1 W3 W5 W7 W9 W10 W11 W12 W15 W16 W17 W18 W19 W21'.split(' '),
  ...'H1 H3 H4 H5 H7 H8 H9 H10 H13 H15 H16 H18 H19 H20'.split(' '),
  ...'O2 O3 O5 O6 O7 O8 O9 O12 O13'.split(' '),
]
/** Each has a file of its own, but for the stopped writer. */
const COMBINED = new URL('../packages/server/endToEnd/combined/', import.meta.url)

const rows = readFileSync(new URL('../docs/evidence/FAULTS.md', import.meta.url), 'utf8')
  .split('\n')
  .map(line => ROW.exec(line)?.groups)
  .filter(groups => groups !== undefined)

it('every fault of the list has a line, and every line a fault', () => {
  const named = rows.map(({ fault = '' }) => fault).filter(fault => /^[A-Z]\d+$/.test(fault))
  expect([...new Set(named)]).toEqual(FAULTS)
})

it('every combination has a line', () => {
  const files = readdirSync(COMBINED).filter(name => /\.(?:test|torture)\.ts$/.test(name))
  expect(files.length).toBeGreaterThan(0)
  for (const name of files)
    expect(rows.map(({ file = '' }) => file)).toContain(`packages/server/endToEnd/combined/${name}`)
})

it.each(rows)('$fault: $test', ({ test = '', file = '' }) => expectTest(file, test))
