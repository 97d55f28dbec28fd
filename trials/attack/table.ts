/** Outcomes as text: one line each for a terminal, and the tables of docs/TRUTH.md. */
import {
  type Attack,
  type FamilyAttack,
  type Judged,
  nameIn,
  OTHER_FAMILIES,
  POOL_FAMILIES,
} from '@assay/world'
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
  return asTable(head, rows)
}

/** A row for each attack and stage, and a column for each family in which it is played. */
export function familyTableOf(attacks: readonly FamilyAttack[], outcomes: readonly Outcome[]): string {
  const cellOf = (of: FamilyAttack | undefined, on: Outcome['on']) => {
    if (of === undefined) return '–'
    const outcome = outcomes.find(each => each.attack === of && each.on === on)
    return outcome === undefined ? '' : `${publishedOf(outcome.shown)}: ${outcome.verdict}`
  }
  const rows = [...new Set(attacks.map(({ written }) => written))].flatMap(written =>
    stagesOf(written).map(on => [
      written.name,
      on,
      ...OTHER_FAMILIES.map(family => {
        const played = attacks.find(({ name }) => name === nameIn(written, family))
        return cellOf(played, on)
      }),
    ]),
  )
  const titles = OTHER_FAMILIES.map(family => POOL_FAMILIES[family].title)
  return asTable(['attack', 'on', ...titles], rows)
}

export const stagesOf = ({ on }: Pick<Attack, 'on'>): readonly Outcome['on'][] =>
  on === 'both' ? ['engine', 'chain'] : [on]

function asTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
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
