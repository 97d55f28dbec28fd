/** The report of a calibration: its tables, its judgements, and whether each judgement holds. */
import type { Sample } from './sample.ts'
import { decidersOf, type Fall, fallsOf, mean, type Row, rowsOf } from './statistics.ts'
import { type Flicker, type Healthy, HEALTHY_SCORE, MOST_CHANGES } from './studies.ts'

/** The largest share of honest samples without a price. */
const MOST_REFUSED = 0.02
const DECIDERS_SHOWN = 8

export type Verdict = { readonly holds: boolean; readonly text: string }

export const honestOf = (samples: readonly Sample[]): Sample[] =>
  samples.filter(({ kind }) => kind === 'honest')

/** One decimal below ten basis points; a missing value is shown as a dash. */
const bps = (value: number): string =>
  Number.isNaN(value) ? '–' : value === Infinity ? '∞' : value.toFixed(value < 10 ? 1 : 0)

const count = (value: number): string => value.toLocaleString('en-US')

/** A table as Markdown, its columns aligned for a terminal. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map(row => (row[at] ?? '').length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(head), rule, ...rows.map(line)]
}

export function scoreTable(rows: readonly Row[]): string[] {
  const head = ['score', 'samples', 'exit p50', 'p90', 'p99', 'fair value p50', 'p90', 'p99']
  return tableOf(
    head,
    rows.map(({ score, samples, exit, fair }) => [
      String(score),
      count(samples),
      ...exit.map(bps),
      ...fair.map(bps),
    ]),
  )
}

/** For each kind of attack: how often its token was believed, and the error. */
export function attackTable(samples: readonly Sample[]): string[] {
  const kinds = [...new Set(samples.map(({ kind }) => kind))].filter(kind => kind !== 'honest').sort()
  const rows = kinds.map(kind => {
    const own = samples.filter(each => each.kind === kind)
    const wrong = own.filter(({ score, fairBps }) => fairBps > allowedBps(score)).length
    const greatest = Math.max(...own.map(({ score }) => score))
    return [
      kind,
      count(own.length),
      String(greatest),
      mean(own.map(({ score }) => score)).toFixed(2),
      count(wrong),
    ]
  })
  return tableOf(['attack', 'samples', 'greatest score', 'mean', 'wrong against fair value'], rows)
}

/** The largest allowed error at a score. */
export const allowedBps = (score: number): number =>
  score >= 7 ? 500 : score >= 5 ? 2000 : score === 4 ? 5000 : Infinity

export function judge(samples: readonly Sample[], seed: number): Verdict[] {
  const honest = honestOf(samples)
  const refused = honest.filter(({ score }) => score === 0).length / honest.length
  return [
    ...fallsOf(honest, seed).map(fall => ({ holds: fall.holds, text: `honest market: ${fallText(fall)}` })),
    ...fallsOf(samples, seed).map(fall => ({ holds: fall.holds, text: `with attacks: ${fallText(fall)}` })),
    {
      holds: refused <= MOST_REFUSED,
      text: `${(100 * refused).toFixed(2)}% of the honest samples refused, at most ${100 * MOST_REFUSED}%`,
    },
  ]
}

const fallText = ({ from, to, p90, share }: Fall): string =>
  `p90 against the exit falls from scores ${from.join('–')} to ${to.join('–')}: ${bps(p90[0])} to ${bps(p90[1])} bps, in ${(100 * share).toFixed(1)}% of the resamples`

export const judgeHealthy = (healthy: readonly Healthy[]): Verdict[] =>
  healthy.map(({ name, median, best }) => ({
    holds: median >= HEALTHY_SCORE,
    text: `two deep pools, ${name}: score ${median} in most blocks, ${best} at best; ${HEALTHY_SCORE} wanted`,
  }))

/** One line for all that hold, and one for each that does not. */
export function judgeFlicker(flicker: readonly Flicker[]): Verdict[] {
  const steady = flicker.filter(({ changes }) => changes <= MOST_CHANGES)
  const most = Math.max(0, ...steady.map(({ changes }) => changes))
  const held = `${steady.length} of ${flicker.length} tokens under noise and passing depth: at most ${most} changes of the score in 150 blocks`
  return [
    ...(steady.length > 0 ? [{ holds: true, text: held }] : []),
    ...flicker
      .filter(each => !steady.includes(each))
      .map(({ name, changes, least, most: high }) => ({
        holds: false,
        text: `${name}: ${changes} changes of the score in 150 blocks between ${least} and ${high}, at most ${MOST_CHANGES} wanted`,
      })),
  ]
}

/** Tokens with two or more agreeing deep pools. */
export function agreeing(samples: readonly Sample[]): { readonly samples: number; readonly mean: number } {
  const own = honestOf(samples).filter(({ isAgreeing }) => isAgreeing)
  return { samples: own.length, mean: mean(own.map(({ score }) => score)) }
}

/** Which component or cap decides each score of the honest market. */
export function deciderTable(samples: readonly Sample[]): string[] {
  const honest = honestOf(samples)
  const rows = rowsOf(honest).flatMap(({ score, samples: all }) =>
    decidersOf(honest, [score, score])
      .slice(0, DECIDERS_SHOWN)
      .map(([decider, own, p90]) => [
        `${score}`,
        decider,
        count(own),
        `${Math.round((100 * own) / all)}%`,
        bps(p90),
      ]),
  )
  return tableOf(['score', 'decided by', 'samples', 'share', 'exit p90'], rows)
}
