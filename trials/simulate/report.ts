/** The events of a simulation: of one life, and of many together. */
import { LAWS, type Law } from './verdict.ts'

/** Events of a world, counted where they happen. */
export const noCounts = () => ({
  storms: 0,
  steps: 0,
  crashes: 0,
  restarts: 0,
  failures: 0,
  epochs: 0,
  weather: 0,
  stalls: 0,
  rebases: 0,
  lateReadings: 0,
  failedReadings: 0,
  lostWakes: 0,
  wishes: 0,
  cuts: 0,
  slowReaders: 0,
  absences: 0,
  tooSlow: 0,
  resumes: 0,
  resets: 0,
  compared: 0,
})
export type Counts = ReturnType<typeof noCounts>

export type Report = {
  readonly seed: number
  readonly hours: number
  readonly blocks: number
  readonly reorgs: number
  readonly records: number
  readonly counts: Readonly<Counts>
  /** For the store: the commits, and how they failed. */
  readonly commits: Readonly<Record<string, number>>
  readonly checks: Readonly<Record<Law, number>>
  /** See `watchedStep.ts`. */
  readonly leftBehind: number
  /** Covers every byte of the log, and the counts. */
  readonly digest: string
}

/** Rows of a table: each event with its total over all lives. */
export function summaryOf(reports: readonly Report[]): string[] {
  const sum = (of: (report: Report) => number) => reports.reduce((total, each) => total + of(each), 0)
  const count = (name: keyof Counts) => sum(({ counts }) => counts[name])
  const commit = (name: string) => sum(({ commits }) => commits[name] ?? 0)
  const rows: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
    [
      'chains',
      {
        blocks: sum(({ blocks }) => blocks),
        reorganisations: sum(({ reorgs }) => reorgs),
        storms: count('storms'),
        'spells of bad health': count('weather'),
        stalls: count('stalls'),
        'starts at the head': count('rebases'),
        'late readings': count('lateReadings'),
        'failed readings': count('failedReadings'),
      },
    ],
    [
      'service',
      {
        steps: count('steps'),
        records: sum(({ records }) => records),
        crashes: count('crashes'),
        'stops in order': count('restarts'),
        'chain hosts ended by the store': count('failures'),
        epochs: count('epochs'),
        'wishes of the operator': count('wishes'),
        'lost wake-ups': count('lostWakes'),
      },
    ],
    [
      'commits',
      {
        made: commit('commits'),
        late: commit('late'),
        'answers lost': commit('lost'),
        refused: commit('refused'),
        'asked for twice': commit('twice'),
        'deaths beside one': commit('deaths'),
        'reads that failed': commit('unread'),
      },
    ],
    [
      'clients',
      {
        cuts: count('cuts'),
        'slow readers': count('slowReaders'),
        absences: count('absences'),
        'let go as too slow': count('tooSlow'),
        'resumes and first connections': count('resumes'),
        resets: count('resets'),
        comparisons: count('compared'),
      },
    ],
    ['checks', Object.fromEntries(LAWS.map(law => [law, sum(({ checks }) => checks[law])]))],
    ['left behind by an anchor', { times: sum(({ leftBehind }) => leftBehind) }],
  ]
  return rows.map(([name, figures]) => {
    const said = Object.entries(figures).map(([what, value]) => `${value.toLocaleString('en-US')} ${what}`)
    return `${name}: ${said.join(', ')}`
  })
}
