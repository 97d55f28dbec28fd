/**
 * `npm run bench:rows -- REF [words…]`: the rows of `npm run bench`, in this folder and in a commit or another folder.
 *
 * Both sides measure the chosen rows by turns, each time against the row's own peer. Printed are the medians of both
 * sides' ratios and how much better or worse this folder is: above 1 it is faster, or smaller where a row counts bytes.
 * Fails when a row lost more than a twentieth.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, type Result } from './harness.ts'
import { HERE, otherTree } from './otherTree.ts'
import { significant } from './row.ts'

const TURNS = 3
const LEAST = 0.95

const [ref, ...words] = process.argv.slice(2)
if (ref === undefined) {
  console.error('Which commit or folder? For example: npm run bench:rows -- HEAD~1 HTTP stream')
  process.exit(2)
}
process.exitCode = compare(ref)

function compare(other: string): number {
  const tree = otherTree(other)
  try {
    const sides = [HERE, tree.root].map(root => ({ root, speeds: new Map<string, number[]>() }))
    for (let turn = 0; turn < TURNS; turn++)
      // Alternate the order, so that neither side always runs after the other.
      for (const { root, speeds } of turn % 2 === 0 ? sides : sides.toReversed()) {
        console.error(`turn ${turn + 1} of ${TURNS}: ${root === HERE ? 'this folder' : other}`)
        for (const result of measuredIn(root)) {
          const speed = speedOf(result)
          if (speed !== null) speeds.set(result.name, [...(speeds.get(result.name) ?? []), speed])
        }
      }
    const [ours, theirs] = sides.map(({ speeds }) => speeds) as [Map<string, number[]>, Map<string, number[]>]
    const shared = [...ours.keys()].filter(name => theirs.has(name))
    console.log(`| row | this folder | ${other} | change |\n| --- | --- | --- | --- |`)
    let lost = 0
    for (const name of shared) {
      const [now, before] = [ours, theirs].map(of => median(of.get(name) ?? [])) as [number, number]
      const change = now / before
      if (change < LEAST) lost++
      console.log(
        `| ${name} | ${significant(now)} | ${significant(before)} | ${change.toFixed(3)}${change < LEAST ? ' **lost**' : ''} |`,
      )
    }
    const missing = [...new Set([...ours.keys(), ...theirs.keys()])].filter(name => !shared.includes(name))
    for (const name of missing) console.log(`Measured on one side only: ${name}`)
    console.log(`${shared.length} rows, ${lost} lost more than a twentieth`)
    return lost === 0 && shared.length > 0 ? 0 : 1
  } finally {
    tree.remove()
  }
}

/** The chosen rows, measured by the tree's own code. A missed goal is no failure here. */
function measuredIn(root: string): readonly Result[] {
  const { error } = spawnSync(process.execPath, ['--expose-gc', join(root, 'bench/run.ts'), ...words], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (error !== undefined) throw error
  return (JSON.parse(readFileSync(join(root, 'bench/results.json'), 'utf8')) as { results: Result[] }).results
}

/** More is better: against the peer if there is one, otherwise the inverse of the cost. Null when it failed. */
function speedOf({ ours, peer, ratio, goal }: Result): number | null {
  if (ours === null) return null
  if (ratio !== null && goal !== null && peer !== null && 'nsPerOperation' in peer)
    return goal.sense === 'at least' ? ratio : 1 / ratio
  return 1 / (ours.figure ?? ours.nsPerOperation)
}
