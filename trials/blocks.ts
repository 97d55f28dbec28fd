/**
 * `npm run test:blocks -- FOLDER…`: runs captured blocks (`assay capture` writes them) and tampered copies of them through
 * the verifier of the service. Prints a line for each block. Exits with 1 when an honest block is refused, a tampered copy
 * passes as proven, or no block is found. `--every` tampers with every receipt, not only with a few of a large block.
 */
import { existsSync } from 'node:fs'
import { type Examined, examine } from './blocks/examine.ts'
import { readBlocks } from './blocks/readBlocks.ts'
import { commandLine, misused } from './commandLine.ts'

/**
 * The number of receipts of a block that are tampered with: every field of each, without taking minutes for a large
 * block.
 */
const MOST = 12

const USAGE = `npm run test:blocks -- FOLDER… [--every]
  --every  tampers with every receipt, not only with ${MOST} of a block`

function main(): void {
  const { values, positionals: folders } = commandLine(USAGE, {
    allowPositionals: true,
    options: { every: { type: 'boolean', default: false } },
  })
  const missing = folders.filter(folder => !existsSync(folder))
  if (missing.length > 0) misused(USAGE, missing.map(each => `${each} does not exist`).join('\n'))
  if (folders.length === 0) misused(USAGE, 'no folder is named')
  const most = values.every ? Number.POSITIVE_INFINITY : MOST
  console.log(row('chain', 'block', 'fork', 'proof', 'verdict'))
  const examined = folders.flatMap(readBlocks).map(block => {
    const result = examine(block, most)
    console.log(lineOf(result))
    return result
  })
  console.log(summaryOf(examined))
  if (examined.length === 0 || examined.some(isBad)) process.exitCode = 1
}

const isBad = ({ honest, tampered }: Examined): boolean =>
  honest.kind === 'refused' || tampered.missed.length > 0

function lineOf({ chain, block, fork, honest, tampered }: Examined): string {
  const proof = honest.kind === 'passed' ? honest.proof : '–'
  const { refused, unproven, unread, missed } = tampered
  const verdict = honest.kind === 'passed' ? 'passed' : `REFUSED: ${honest.reason}`
  const deceived =
    missed.length === 0 ? '' : `, ACCEPTED copies with a changed ${[...new Set(missed)].join(', ')}`
  const copies = `${refused} copies refused, ${unproven} unproven, ${unread.length} kinds without effect${deceived}`
  return row(chain, String(block), fork, proof, honest.kind === 'passed' ? `${verdict}; ${copies}` : verdict)
}

const row = (chain: string, block: string, fork: string, proof: string, verdict: string): string =>
  `${chain.padEnd(10)} ${block.padStart(10)} ${fork.padEnd(26)} ${proof.padEnd(9)} ${verdict}`

function summaryOf(examined: readonly Examined[]): string {
  const count = (of: (each: Examined) => number): number => examined.reduce((sum, each) => sum + of(each), 0)
  const proofs = ['receipts', 'root', 'header', 'none'].map(
    proof =>
      `${count(({ honest }) => (honest.kind === 'passed' && honest.proof === proof ? 1 : 0))} by ${proof}`,
  )
  const unread = [...new Set(examined.flatMap(({ tampered }) => tampered.unread))].sort()
  return [
    '',
    `${examined.length} blocks: ${proofs.join(', ')}; ${count(({ honest }) => (honest.kind === 'refused' ? 1 : 0))} refused`,
    `tampered copies: ${count(({ tampered }) => tampered.refused)} refused, ${count(({ tampered }) => tampered.unproven)} unproven, ${count(({ tampered }) => tampered.missed.length)} accepted`,
    `changes without effect on the verified block: ${unread.join(', ')}`,
  ].join('\n')
}

main()
