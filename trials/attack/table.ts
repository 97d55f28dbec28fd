/** Outcomes as text: one line each for a terminal, and the table of docs/TRUTH.md. */
import type { Judged } from '@assay/world'
import type { Outcome } from './run.ts'

const NAME = 42

export function lineOf(outcome: Outcome): string {
  const { attack, on, shown, verdict } = outcome
  const parts = [
    verdict.padEnd(6),
    attack.name.padEnd(NAME),
    on.padEnd(6),
    publishedOf(shown).padEnd(22),
    `true ${number(shown.trueUsd)}, a seller gets ${sellerOf(shown)}`,
    ...(verdict === 'WRONG' ? [shown.faults.join('; ')] : []),
    ...(verdict === 'OPEN' ? [`${attack.open}: ${shown.faults.join('; ')}`] : []),
    ...(verdict === 'CLOSED' ? [`it holds: take out open: '${attack.open}'`] : []),
  ]
  return parts.join(' ')
}

export function tableOf(outcomes: readonly Outcome[]): string {
  const head = ['attack', 'what happens', 'on', 'published', 'true', 'a seller gets', 'verdict']
  const rows = outcomes.map(({ attack, on, shown, verdict }) => [
    attack.name,
    attack.about,
    on,
    publishedOf(shown),
    number(shown.trueUsd),
    sellerOf(shown),
    verdict === 'OPEN' ? `**OPEN** ${attack.open}` : verdict,
  ])
  const row = (cells: readonly string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [row(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(row), ''].join('\n')
}

const publishedOf = ({ usd, score, codes, changes }: Judged): string => {
  const said = usd === null ? `none (${codes.join(', ')})` : `${number(usd)} at ${score}`
  return changes === null ? said : `${said}, ${changes} changes`
}

const sellerOf = ({ sellerUsd }: Judged): string => (Number.isFinite(sellerUsd) ? number(sellerUsd) : '–')

/** Four significant digits. */
const number = (value: number): string => String(Number(value.toPrecision(4)))
