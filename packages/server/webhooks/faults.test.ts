/**
 * Receivers that refuse, fail, stall and cut, and a sender that is killed in the middle of it: nothing is lost, what comes
 * twice has the same id and bytes, and what comes first comes in the order of the log. `npm run test:webhooks` is the long form.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Envelope, WebhookCondition } from '@assay/sdk/wire'
import { until } from '../endToEnd/testing/until.ts'
import type { TestDatabase } from '../store/testing/connect.ts'
import { key } from '../store/testing/drafts.ts'
import { generator } from '../store/testing/generator.ts'
import { progressOf } from '../store/testing/progress.ts'
import { wholeLog } from '../store/testing/wholeLog.ts'
import { messageId } from './message.ts'
import { makeSecret } from './signature.ts'
import { type Manner, MANNERS, Receiver } from './testing/receiver.ts'
import { CHAIN, TOKEN } from './testing/script.ts'
import type { SendingOptions } from './testing/sendingProcess.ts'
import { seedOfRun } from '../../world/seed.ts'
import { bothStores } from '../store/testing/bothStores.ts'

const PROCESS = fileURLToPath(new URL('./testing/sendingProcess.ts', import.meta.url))
const FAULTS = Number(process.env['ASSAY_WEBHOOK_FAULTS'] ?? 40)
const isLong = process.env['ASSAY_WEBHOOK_FAULTS'] !== undefined
const SEED = seedOfRun()
/** A fifth and more are kills. */
const KILLS = { sqlite: Math.ceil(FAULTS / 4), postgres: isLong ? 20 : 2 }
/** By then the market has met every condition. */
const LEAST_STEPS = 30
const LIMIT_MS = isLong ? 3_600_000 : 600_000

const token = { chain_id: CHAIN, token_address: TOKEN as `0x${string}` }
const CONDITIONS: readonly WebhookCondition[] = [
  { kind: 'price_crosses', ...token, price_usd: '1' },
  { kind: 'price_moves', ...token, bps: 300 },
  { kind: 'score_below', ...token, score: 5 },
  { kind: 'retracted', chain_id: CHAIN },
  { kind: 'health', chain_id: CHAIN },
]

const kinds = bothStores()

describe.each(['sqlite', 'postgres'] as const)('%s', kind => {
  let database: TestDatabase
  let receivers: Receiver[]
  let child: ChildProcess | null = null
  beforeEach(async () => {
    database = await kinds[kind]()
    receivers = await Promise.all(CONDITIONS.map(() => Receiver.open()))
  })
  afterEach(async () => {
    child?.kill('SIGKILL')
    for (const receiver of receivers) await receiver.close()
    await database.dispose()
  })

  test('nothing is lost or invented, repetitions are identical, order is kept, every signature is valid', {
    timeout: LIMIT_MS,
  }, async () => {
    const random = generator(SEED)
    const next = (below: number) => random() % below
    const store = await database.connect()
    await store.insertKey({ ...key('acme'), scopes: ['stream'] })
    for (const [at, condition] of CONDITIONS.entries()) {
      const secret = makeSecret()
      const receiver = receivers[at] as Receiver
      receiver.secret = secret.reveal()
      await store.insertWebhook(
        {
          webhookId: `w${at}`,
          consumer: 'acme',
          name: condition.kind,
          url: receiver.url,
          condition: JSON.stringify(condition),
          secret,
          createdAtMs: at,
          position: 0,
          memory: null,
        },
        100,
      )
    }
    await database.leave()

    const counts = new Map<string, number>()
    const faults = () => [...counts.values()].reduce((sum, each) => sum + each, 0)
    const bad = ['failing', 'cut', 'dropped', 'redirected', 'slow'] as const
    for (const receiver of receivers)
      receiver.manner = (): Manner => {
        if (next(3) !== 0) return MANNERS.well
        const name = bad[next(bad.length)] as (typeof bad)[number]
        counts.set(name, (counts.get(name) ?? 0) + 1)
        return MANNERS[name]
      }
    const wanted = kind === 'sqlite' ? FAULTS : Math.ceil(FAULTS / 8)
    const kills = KILLS[kind]
    const tell = isLong ? progressOf(`${kind}, faults, seed ${SEED}`, wanted) : () => undefined
    const options: SendingOptions = { address: database.address, untilStep: 1e9, pauseMs: isLong ? 5 : 15 }
    let lastStep = 0
    const start = () => {
      const started = spawn(process.execPath, [PROCESS, JSON.stringify(options)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child = started
      createInterface({ input: started.stdout as NodeJS.ReadableStream }).on('line', line => {
        if (/^\d+$/.test(line)) lastStep = Number(line)
      })
      return started
    }
    const say = () => receivers.reduce((sum, { received }) => sum + received.length, 0)
    for (let kill = 0; kill < kills || faults() < wanted || lastStep < LEAST_STEPS; kill++) {
      const [stepsBefore, saidBefore] = [lastStep, say()]
      const started = start()
      const [moreSteps, moreSaid] = [1 + next(10), next(12)]
      await until(
        'more commits and messages',
        () => lastStep >= stepsBefore + moreSteps && say() >= saidBefore + moreSaid,
      )
      // Now and then nothing listens while commits continue, and the next start finds a receiver again.
      const refusing = next(4) === 0 ? (receivers[next(receivers.length)] as Receiver) : null
      if (refusing !== null) {
        const { port } = refusing
        await refusing.close()
        counts.set('refused', (counts.get('refused') ?? 0) + 1)
        const step = lastStep
        await until('commits without a listener', () => lastStep >= step + 3)
        started.kill('SIGKILL')
        await once(started, 'exit')
        await refusing.listen(port)
      } else {
        started.kill('SIGKILL')
        await once(started, 'exit')
      }
      counts.set('killed', (counts.get('killed') ?? 0) + 1)
      tell(Math.min(faults(), wanted))
    }
    // In peace, all that is due arrives.
    for (const receiver of receivers) receiver.manner = () => MANNERS.well
    const log = await wholeLog(await database.connect())
    await database.leave()
    const expected = log.map(({ envelope }) => JSON.parse(envelope) as Envelope)
    const due = CONDITIONS.map((condition, at) =>
      dueFor(condition, expected).map(each => messageId(`w${at}`, each)),
    )
    const last = start()
    // What it commits beside that comes after: the first so many are compared.
    await until('all that was due', () =>
      receivers.every(({ ids }, at) => ids.length >= (due[at] as string[]).length),
    )
    last.kill('SIGTERM')
    await once(last, 'exit')

    const context = `seed ${SEED}, ${JSON.stringify(Object.fromEntries(counts))}`
    if (isLong) console.log(`${kind}: ${context}, ${say()} messages, ${due.flat().length} due`)
    for (const [at, receiver] of receivers.entries()) {
      const ids = due[at] as string[]
      expect(receiver.forged, context).toEqual([])
      expect(ids.length, context).toBeGreaterThan(0)
      expect(receiver.ids.slice(0, ids.length), context).toEqual(ids)
      const bodies = new Map<string, Set<string>>()
      for (const { id, body } of receiver.received) bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
      expect(
        [...bodies.values()].filter(each => each.size > 1),
        context,
      ).toEqual([])
    }
    expect(counts.get('killed') ?? 0, context).toBeGreaterThanOrEqual(kills)
    expect(faults(), context).toBeGreaterThanOrEqual(wanted)
  })
})

/** The expected messages of a condition for a log, computed independently in cents, the market's unit. */
function dueFor(condition: WebhookCondition, log: readonly Envelope[]): number[] {
  const due: number[] = []
  let side: boolean | null = null
  let last: bigint | null = null
  let below: boolean | null = null
  let status: string | null = null
  for (const { stream_sequence: sequence, type, payload } of log) {
    if (type === 'FEED_HEALTH') {
      if (condition.kind === 'health' && status !== null && status !== payload.status) due.push(sequence)
      status = payload.status
      continue
    }
    if (type === 'PRICE_RETRACT' && condition.kind === 'retracted') due.push(sequence)
    const state = (type === 'PRICE_RETRACT' ? (payload as { current: unknown }).current : payload) as {
      price_usd: { numerator: string; denominator: string }
      confidence: { score: number }
    }
    const cents = (BigInt(state.price_usd.numerator) * 100n) / BigInt(state.price_usd.denominator)
    if (condition.kind === 'price_crosses') {
      const isAbove = cents >= 100n
      if (side !== null && side !== isAbove) due.push(sequence)
      side = isAbove
    }
    if (condition.kind === 'price_moves') {
      const change = last === null ? 0n : cents > last ? cents - last : last - cents
      if (last === null) last = cents
      else if (change * 10_000n >= last * BigInt(condition.bps)) {
        due.push(sequence)
        last = cents
      }
    }
    if (condition.kind === 'score_below') {
      const isBelow = state.confidence.score < condition.score
      if (below === false && isBelow) due.push(sequence)
      below = isBelow
    }
  }
  return due
}
