/**
 * `npm run simulate -- --seed N --hours H`: lives of the service on a virtual clock; its laws are checked at every
 * step.
 */
import { availableParallelism } from 'node:os'
import { BUGS } from './simulate/bugs.ts'
import { type Life, liveAll, livesOf } from './simulate/lives.ts'
import { type Report, summaryOf } from './simulate/report.ts'
import { commandLine, misused } from './commandLine.ts'

const USAGE = `npm run simulate -- [--seed N] [--hours H] [--life HOURS] [--jobs THREADS] [--twice] [--bug NAME]
  --life   hours of one life
  --twice  each life a second time, which must be the same
  --bug    builds one in that must be found: ${BUGS.join(', ')}`

const { values } = commandLine(USAGE, {
  options: {
    seed: { type: 'string' },
    hours: { type: 'string', default: '25' },
    life: { type: 'string', default: '25' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    twice: { type: 'boolean', default: false },
    bug: { type: 'string' },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_003)
const [hours, lifeHours, jobs] = [Number(values.hours), Number(values.life), Number(values.jobs)]
const bug = BUGS.find(each => each === values.bug) ?? null
const isSound = Number.isInteger(seed) && hours > 0 && lifeHours > 0 && jobs >= 1
if (!isSound) misused(USAGE, 'expected numbers above 0, --seed whole')
if (values.bug !== undefined && bug === null) misused(USAGE, `there is no bug ${values.bug}`)

const startMs = performance.now()
const lives = livesOf(hours, lifeHours, { seed, hours, bug, isTwice: values.twice })
const reports: Report[] = []
const failed: Life[] = []
await liveAll(lives, jobs, (life, { report, failure }) => {
  if (report !== null) reports.push(report)
  if (failure === null)
    return console.log(`seed ${life.seed}: ${life.hours} h, every law held; digest ${report?.digest}`)
  failed.push(life)
  console.log(`seed ${life.seed}: FAILED ${failure}\nagain with: ${commandOf(life)}`)
})

const machine = process.cpuUsage()
const [seconds, cpuSeconds] = [(performance.now() - startMs) / 1000, (machine.user + machine.system) / 1e6]
console.log(
  `${hours.toLocaleString('en-US')} h in ${lives.length} lives, ${seconds.toFixed(0)} s by ${jobs} threads, ${cpuSeconds.toFixed(0)} s of processor time; violations: ${failed.length}`,
)
for (const line of summaryOf(reports)) console.log(`  ${line}`)
process.exitCode = failed.length === 0 ? 0 : 1

function commandOf({ seed, hours, bug, isTwice }: Life): string {
  const length = `--hours ${hours} --life ${Math.max(hours, lifeHours)}`
  return `npm run simulate -- --seed ${seed} ${length}${isTwice ? ' --twice' : ''}${bug === null ? '' : ` --bug ${bug}`}`
}
