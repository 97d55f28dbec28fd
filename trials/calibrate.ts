/**
 * `npm run calibrate -- --samples N --seed N`: measures the distance of published prices from a seller's price, score
 * by score, in an honest market with attacks in it. Fails when a higher score has a larger error. The same seed
 * prints the same output.
 *
 * `--policy FILE` and `--against REF` measure another policy, or the engine of another commit, on the same markets;
 * `--graph FILE` prices a graph of real pairs instead; `--write` puts table and picture into the docs.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { otherEngine } from './calibrate/against.ts'
import { compareGraph, type GraphFile } from './calibrate/graph.ts'
import { SAMPLES_A_LIFE } from './calibrate/life.ts'
import type { Sample } from './calibrate/sample.ts'
import { liveMarkets } from './calibrate/lives.ts'
import { pictureOf } from './calibrate/picture.ts'
import * as report from './calibrate/report.ts'
import { rowsOf } from './calibrate/statistics.ts'
import { watchFlicker, watchHealthy } from './calibrate/studies.ts'
import { withParts } from '../scripts/docsParts.ts'
import { commandLine, misused } from './commandLine.ts'

const PAGE = 'docs/TRUTH.md'
const PICTURE = 'docs/images/calibration.svg'
/** Steps in which progress is shown. */
const PROGRESS_STEPS = 20

const USAGE = `npm run calibrate -- [--samples N] [--seed N] [--jobs THREADS] [--policy FILE] [--against REF] [--graph FILE] [--write]
  --policy   another policy on the same markets
  --against  the engine of another commit on the same markets
  --graph    a graph of real pairs instead
  --write    writes the table and the picture of ${PAGE}`

const { values } = commandLine(USAGE, {
  options: {
    samples: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    policy: { type: 'string' },
    against: { type: 'string' },
    graph: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const [wanted, seed, jobs] = [Number(values.samples), Number(values.seed), Number(values.jobs)]
if (!Number.isInteger(wanted) || wanted < 1 || !Number.isInteger(seed) || seed < 0 || !(jobs >= 1))
  misused(USAGE, 'expected whole numbers, --samples and --jobs above 0')

process.exitCode = (values.graph === undefined ? await calibrate() : graph(values.graph)) ? 0 : 1

async function calibrate(): Promise<boolean> {
  const policy: unknown =
    values.policy === undefined ? undefined : JSON.parse(readFileSync(values.policy, 'utf8'))
  const samples = await sampled('this engine', liveMarkets, policy)
  const honest = report.honestOf(samples)
  const table = report.scoreTable(rowsOf(honest))
  const withAttacks = report.scoreTable(rowsOf(samples))
  const attacks = report.attackTable(samples)
  say('Honest market, error in basis points', table)
  say('With attacks', withAttacks)
  say('Attacks', attacks)
  say('What decides each score in the honest market', report.deciderTable(samples))
  const verdicts = [
    ...report.judge(samples, seed),
    ...report.judgeHealthy(watchHealthy(seed, policy)),
    ...report.judgeFlicker(watchFlicker(seed, policy)),
  ]
  const own = report.agreeing(samples)
  const meanText = `mean score of tokens with two or more agreeing deep pools: ${own.mean.toFixed(2)} over ${own.samples.toLocaleString('en-US')} samples`
  if (values.against !== undefined) {
    const { before, rows } = await against(values.against)
    say(`Honest market on the engine of ${values.against}`, report.scoreTable(rows))
    verdicts.push({
      holds: own.mean > before,
      text: `${meanText}; ${before.toFixed(2)} with ${values.against}`,
    })
  } else say('Agreement', [meanText])
  const lines = verdicts.map(({ holds, text }) => `${holds ? 'holds ' : 'FAILED'} ${text}`)
  say('Judged', lines)
  if (values.write) {
    const total = samples.length.toLocaleString('en-US')
    const title = `${total} samples (\`npm run calibrate -- --samples ${wanted} --seed ${seed}\`), ${honest.length.toLocaleString('en-US')} of them honest; errors in basis points. The honest market:`
    const part = [
      [title, ...table],
      ['With attacks:', ...withAttacks],
      ['What the attacks reached:', ...attacks],
      [
        'What was judged:',
        ...verdicts.map(({ holds, text }) => `- ${holds ? 'holds' : '**fails**'}: ${text}`),
      ],
      [`${meanText[0]?.toUpperCase()}${meanText.slice(1)}.`],
    ].map(([first, ...rest]) => (rest.length === 0 ? `${first}\n` : `${first}\n\n${rest.join('\n')}\n`))
    writeFileSync(
      PAGE,
      withParts(readFileSync(PAGE, 'utf8'), { calibration: part.join('\n') }, 'npm run calibrate'),
    )
    writeFileSync(
      PICTURE,
      pictureOf(rowsOf(honest), `Error of the published price by score, ${total} samples`),
    )
  }
  return verdicts.every(({ holds }) => holds)
}

/** At least the requested number of samples, from markets with consecutive seeds. */
async function sampled(name: string, live: typeof liveMarkets, policy: unknown): Promise<Sample[]> {
  const lives = Array.from({ length: Math.ceil(wanted / SAMPLES_A_LIFE) }, (_, at) => ({
    seed: seed * 1_000_003 + at,
    policy,
  }))
  let [done, shown] = [0, 0]
  return live(lives, jobs, () => {
    done += 1
    const step = Math.floor((PROGRESS_STEPS * done) / lives.length)
    if (step > shown) console.error(`${name}: ${done} of ${lives.length} markets`)
    shown = step
  })
}

async function against(ref: string) {
  const other = await otherEngine(ref)
  try {
    const samples = await sampled(ref, other.lives.liveMarkets, undefined)
    return { before: report.agreeing(samples).mean, rows: rowsOf(report.honestOf(samples)) }
  } finally {
    other.remove()
  }
}

function graph(file: string): boolean {
  const found = compareGraph(JSON.parse(readFileSync(file, 'utf8')) as GraphFile)
  const { priced, within1, within5, further } = found
  console.log(
    `${priced} tokens with a direct pool have a price: ${within1} within 1% of their deepest pool by hand, ${within5} more within 5%, ${further.length} further`,
  )
  for (const { symbol, token, score, apartBps } of further)
    console.log(`  ${symbol} ${token}: ${apartBps.toFixed(0)} bps apart, score ${score}`)
  return found.holds
}

function say(title: string, lines: readonly string[]): void {
  console.log(`\n${title}\n\n${lines.join('\n')}`)
}
