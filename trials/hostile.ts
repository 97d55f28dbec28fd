/**
 * `npm run test:hostile`: hostile clients against a node of its own, over loopback alone. Each attack runs in one
 * warm-up round and three more; the table shows the observations of the last round and whether it held in all four.
 * Memory must be flat: after the third measured round within 5% of after the first.
 *
 * The warm-up round is not measured, because the first crowd of 10,000 sockets takes pages from the system that the
 * allocator keeps for the next one: resident memory goes from 160 to 310 MiB in it, by another 20 in the next round,
 * and then no further, while the heap in use stays at 26 MiB. Needs about 12,000 files (`ulimit -n`) and python3 for
 * a small receive buffer.
 */
import { availableParallelism, loadavg } from 'node:os'
import { ATTACKS, type Seen } from './hostile/attacks.ts'
import type { Memory } from './hostile/target.ts'
import { Victim } from './hostile/victim.ts'
import { commandLine } from './commandLine.ts'

commandLine('npm run test:hostile', {})

const WARM_UP = 1
const ROUNDS = 3
const FLAT = 1.05
/** By then the sockets of the previous round are closed, and their memory can be freed. */
const SETTLED_MS = 3000

const victim = await Victim.start()
const seen = new Map<string, Seen[]>()
const memory: Memory[] = []
try {
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const { name, run } of ATTACKS) {
      const one = await run(victim)
      seen.set(name, [...(seen.get(name) ?? []), one])
      if (!one.isHeld) console.log(`round ${round}: ${name}: ${one.seen}`)
    }
    await new Promise(resolve => setTimeout(resolve, SETTLED_MS))
    const after = await victim.memory()
    if (round >= WARM_UP) memory.push(after)
  }
} finally {
  await victim.stop()
}

const rows = [...seen].map(([name, rounds]) => ({
  name,
  seen: rounds.at(-1)?.seen ?? '',
  isHeld: rounds.every(({ isHeld }) => isHeld),
}))
rows.push(
  flat('resident memory after each round', ({ residentMib }) => residentMib),
  flat('heap in use after each round', ({ heapMib }) => heapMib),
  flat('outside the heap after each round', ({ outsideMib }) => outsideMib),
)
const [load = 0] = loadavg()
console.log(
  `load of the machine ${load.toFixed(1)} on ${availableParallelism()} cores; times count where it is less than 2 a core\n`,
)
const width = Math.max(...rows.map(({ name }) => name.length))
for (const row of rows)
  console.log(`${row.name.padEnd(width)}  ${row.isHeld ? 'held  ' : 'FAILED'}  ${row.seen}`)
process.exitCode = rows.every(({ isHeld }) => isHeld) ? 0 : 1

function flat(name: string, mibOf: (memory: Memory) => number) {
  const mib = memory.map(mibOf)
  const [first = 0] = mib
  const isHeld = mib.length === ROUNDS && (mib.at(-1) ?? Infinity) <= first * FLAT
  return { name, seen: mib.map(each => `${each.toFixed(1)} MiB`).join(', '), isHeld }
}
