import { describe, expect, it } from 'vitest'
import type { Hex } from '../../ops/hex.ts'
import type { BlockRef, VerifiedBlock } from '../feed.ts'
import { Lineage } from './lineage.ts'

const hashOf = (number: number, fork = 'a'): Hex => `0x${fork}${number.toString().padStart(63, '0')}`
const ref = (number: number, fork?: string): BlockRef => ({
  number,
  hash: hashOf(number, fork),
  timeMs: number,
})
const block = (number: number, fork?: string, parentFork = fork): VerifiedBlock => ({
  ...ref(number, fork),
  parentHash: hashOf(number - 1, parentFork),
  proof: 'receipts',
  logs: [],
})
/** A block to resume from: it says which one it stands on. */
const undoableRef = (number: number, fork?: string) => ({
  ...ref(number, fork),
  parentHash: hashOf(number - 1, fork),
})
const refs = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => undoableRef(from + at))

describe('a lineage', () => {
  it('begins with the first block and may return to its parent', () => {
    const lineage = new Lineage(null, 10)
    expect([lineage.tip, lineage.base]).toEqual([null, null])
    lineage.extend(block(5))
    expect(lineage.tip).toEqual(ref(5))
    expect(lineage.base).toEqual({ number: 4, hash: hashOf(4) })
    expect([lineage.has(hashOf(4)), lineage.has(hashOf(5)), lineage.has(hashOf(3))]).toEqual([
      true,
      true,
      false,
    ])
    expect([lineage.at(4), lineage.at(5)]).toEqual([null, ref(5)])
  })

  it('accepts only blocks that extend its tip', () => {
    const lineage = new Lineage(null, 10)
    lineage.extend(block(5))
    expect(() => lineage.extend(block(7))).toThrow('does not extend 5')
    expect(() => lineage.extend(block(6, 'b'))).toThrow('does not extend 5')
  })

  it('replaces blocks above the ancestor, and no more than can be undone', () => {
    const lineage = new Lineage({ tip: ref(9), undoable: refs(5, 9), finalized: ref(4) }, 10)
    lineage.replace(hashOf(7), [block(8, 'b', 'a'), block(9, 'b')])
    expect([lineage.at(7), lineage.at(8), lineage.tip]).toEqual([ref(7), ref(8, 'b'), ref(9, 'b')])
    expect(lineage.has(hashOf(8))).toBe(false)
    lineage.replace(hashOf(4), [block(5, 'c', 'a')])
    expect([lineage.tip, lineage.at(6)]).toEqual([ref(5, 'c'), null])
    expect(() => lineage.replace(hashOf(3), [block(4, 'd', 'a')])).toThrow('below what can be undone')
  })

  it.each([
    ['the finalized block where it is next below', { undoable: refs(5, 9), finalized: ref(4) }, 4],
    ['a finalized block among them', { undoable: refs(5, 9), finalized: ref(6) }, 6],
    ['the parent of the lowest where less is final', { undoable: refs(5, 9), finalized: ref(2) }, 4],
    ['the parent of the lowest where nothing is final', { undoable: refs(5, 9), finalized: null }, 4],
    ['the tip where nothing can be undone', { undoable: [], finalized: ref(9) }, 9],
  ])('may return to %s', (_what, { undoable, finalized }, base) => {
    const lineage = new Lineage({ tip: ref(9), undoable, finalized }, 10)
    expect(lineage.base).toMatchObject({ number: base, hash: hashOf(base) })
    expect([lineage.tip, lineage.has(hashOf(base)), lineage.has(hashOf(base - 1))]).toEqual([
      ref(9),
      true,
      false,
    ])
  })

  it('refuses to resume from blocks that do not end in the tip', () => {
    const resume = (undoable: ReturnType<typeof refs>) =>
      new Lineage({ tip: ref(9), undoable, finalized: null }, 10)
    expect(() => resume(refs(5, 8))).toThrow('not consecutive')
    expect(() => resume([undoableRef(7), undoableRef(9)])).toThrow('not consecutive')
    expect(() => resume([undoableRef(8), undoableRef(9, 'b')])).toThrow('is the tip')
    expect(resume(refs(5, 9).toReversed()).tip).toEqual(ref(9))
  })

  it('drops blocks below its limit and below the finalized one', () => {
    const lineage = new Lineage(null, 3)
    for (const number of [1, 2, 3, 4, 5]) lineage.extend(block(number))
    expect(lineage.base).toEqual(ref(2))
    lineage.finalize(4)
    expect([lineage.base, lineage.at(4), lineage.at(5)]).toEqual([ref(4), null, ref(5)])
    lineage.finalize(2)
    expect(lineage.base).toEqual(ref(4))
    lineage.finalize(5)
    expect([lineage.base, lineage.tip, lineage.at(5)]).toEqual([ref(5), ref(5), ref(5)])
    lineage.extend(block(6))
    expect([lineage.tip, lineage.at(5)]).toEqual([ref(6), null])
  })
})
