/**
 * Runs a captured block and its tampered copies through the verifier of the service. An honest block must pass. A copy must
 * be refused or unproven, unless the change has no effect: an unread field, an omitted zero.
 */
import { forkOf } from './fork.ts'
import type { CapturedBlock, Fields } from './readBlocks.ts'
import { copiesOf } from './tamper.ts'
import { asAnswered, decoded, isWhole, type Verdict, verdictOn } from './verdict.ts'

export type Tampered = {
  readonly refused: number
  readonly unproven: number
  /** Changes after which the verified block is the same as the honest one. */
  readonly unread: readonly string[]
  /** Changes that passed as a proven but different block. */
  readonly missed: readonly string[]
}

export type Examined = {
  readonly file: string
  readonly chain: string
  readonly block: number
  readonly fork: string
  readonly honest: Verdict
  readonly tampered: Tampered
}

export function examine(block: CapturedBlock, most: number): Examined {
  const { header, receipts } = block
  const honest = verdictOn(header, asAnswered(block))
  return {
    file: block.file,
    chain: chainOf(block),
    block: Number(header?.['number'] ?? receipts?.[0]?.['blockNumber']),
    fork:
      header === null ? 'receipts alone' : `${forkOf(header)}${isWhole(header) ? '' : ', header in part'}`,
    honest,
    tampered:
      honest.kind === 'passed'
        ? tamperWith(block, honest, most)
        : { refused: 0, unproven: 0, unread: [], missed: [] },
  }
}

function tamperWith(
  block: CapturedBlock,
  honest: Extract<Verdict, { kind: 'passed' }>,
  most: number,
): Tampered {
  let [refused, unproven] = [0, 0]
  const unread = new Set<string>()
  const missed: string[] = []
  for (const { what, header, items } of copiesOf(block, decoded(block), most)) {
    const verdict = verdictOn(header, items)
    if (verdict.kind === 'refused') refused++
    else if (verdict.proof === 'none') unproven++
    else if (verdict.digest === honest.digest) unread.add(what)
    else missed.push(what)
  }
  return { refused, unproven, unread: [...unread], missed }
}

/** The chain id in its transactions, otherwise the first part of the file name. */
function chainOf({ file, key, header, receipts }: CapturedBlock): string {
  const transactions = (header?.['transactions'] ?? []) as readonly (string | Fields)[]
  const signed = transactions.find(each => typeof each !== 'string' && each['chainId'] !== undefined)
  const id = typeof signed === 'object' ? signed['chainId'] : undefined
  if (typeof id === 'string') return String(Number(id))
  if (key !== undefined) return key.split(' ')[0] as string
  const name = /^([a-z0-9]+)-/.exec(file.split('/').at(-1) ?? '')?.[1] ?? ''
  const isNumber = Number(name) === Number(header?.['number'] ?? receipts?.[0]?.['blockNumber'])
  return isNumber || name === '' ? (file.split('/').at(-2) ?? '') : name
}
