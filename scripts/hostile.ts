/**
 * `npm run test:hostile`: clients that mean harm against a node of its own, over loopback alone. Each attack is run in three
 * rounds; the table says what was seen in the last and whether it held in all. Memory must be flat: after the third round
 * within 5% of after the first. Needs about 12,000 files (`ulimit -n`) and python3 for a small receive buffer.
 */
import { ATTACKS, type Seen } from './hostile/attacks.ts'
import { Victim } from './hostile/victim.ts'

const ROUNDS = 3
const FLAT = 1.05
/** Sockets of the round before are gone, and what they held can be freed. */
const SETTLED_MS = 3000

const victim = await Victim.start()
const seen = new Map<string, Seen[]>()
const memory: number[] = []
try {
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, run } of ATTACKS) seen.set(name, [...(seen.get(name) ?? []), await run(victim)])
    await new Promise(resolve => setTimeout(resolve, SETTLED_MS))
    memory.push(await victim.residentMib())
  }
} finally {
  await victim.stop()
}

const [first = 0, , last = 0] = memory
const rows = [...seen].map(([name, rounds]) => ({
  name,
  seen: rounds.at(-1)?.seen ?? '',
  isHeld: rounds.every(({ isHeld }) => isHeld),
}))
rows.push({
  name: 'memory after each round',
  seen: memory.map(mib => `${mib.toFixed(0)} MiB`).join(', '),
  isHeld: last <= first * FLAT,
})
const width = Math.max(...rows.map(({ name }) => name.length))
for (const row of rows)
  console.log(`${row.name.padEnd(width)}  ${row.isHeld ? 'held  ' : 'FAILED'}  ${row.seen}`)
process.exitCode = rows.every(({ isHeld }) => isHeld) ? 0 : 1
