/**
 * `npm run attack [-- PART OF A NAME] [--engine|--chain] [--families] [--table]`: runs every attack of the corpus on its
 * stages, and shows the published state, the price a seller would have got, and the verdict. Fails on any wrong verdict,
 * and on any attack that is marked as open but is not. `--families` runs only those on pools of families other than the
 * attack's own. `--table` writes the tables of docs/TRUTH.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { ATTACKS, type Attack, FAMILY_ATTACKS, judge } from '@assay/world'
import { playOnChain } from '../packages/server/endToEnd/testing/attack/playOnChain.ts'
import { type Outcome, outcomeOf, runOnEngine } from './attack/run.ts'
import { familyTableOf, lineOf, tableOf } from './attack/table.ts'
import { withParts } from '../scripts/docsParts.ts'
import { commandLine } from './commandLine.ts'

const PAGE = 'docs/TRUTH.md'
/** Each has a node and a service of its own, which mostly wait. */
const CHAINS_AT_ONCE = 2

const USAGE = `npm run attack -- [PART OF A NAME]… [--engine|--chain] [--families] [--table]
  --engine, --chain  only on the engine, or only on local nodes
  --families         only on pools of families other than the attack's own
  --table            writes the table of ${PAGE}`

const { values, positionals } = commandLine(USAGE, {
  allowPositionals: true,
  options: {
    engine: { type: 'boolean', default: false },
    chain: { type: 'boolean', default: false },
    families: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
  },
})
const isAsked = ({ name }: Attack) =>
  positionals.length === 0 || positionals.some(part => name.includes(part))
const attacks = [...(values.families ? [] : ATTACKS), ...FAMILY_ATTACKS].filter(isAsked)
const outcomes: Outcome[] = []
const say = (outcome: Outcome) => {
  outcomes.push(outcome)
  console.log(lineOf(outcome))
}

if (!values.chain) for (const attack of attacks) if (attack.on !== 'chain') say(await runOnEngine(attack))
if (!values.engine) {
  const left = attacks.filter(({ on }) => on !== 'engine')
  const lane = async () => {
    for (let attack = left.shift(); attack !== undefined; attack = left.shift()) {
      const { play } = attack
      const looks = await playOnChain(play)
      const judged = looks.map(look => judge(attack, look))
      say(outcomeOf(attack, 'chain', judged))
    }
  }
  await Promise.all(Array.from({ length: CHAINS_AT_ONCE }, lane))
}

const count = (verdict: Outcome['verdict']) => outcomes.filter(each => each.verdict === verdict).length
console.log(
  `\n${outcomes.length} runs of ${attacks.length} attacks: ${count('HELD')} held, ${count('OPEN')} open, ${count('WRONG')} wrong, ${count('CLOSED')} marked open that hold`,
)
if (values.table) {
  const own = ATTACKS.flatMap(attack => outcomes.filter(each => each.attack === attack))
  const parts = {
    ...(values.families ? {} : { attacks: tableOf(own) }),
    'attacks by family': familyTableOf(FAMILY_ATTACKS, outcomes),
  }
  writeFileSync(PAGE, withParts(readFileSync(PAGE, 'utf8'), parts, 'npm run attack -- --table'))
  console.log(`${PAGE}: written`)
}
process.exit(outcomes.length > 0 && count('WRONG') + count('CLOSED') === 0 ? 0 : 1)
