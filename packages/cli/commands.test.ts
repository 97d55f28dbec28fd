import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHAIN_ID, planWith, THIN } from '../server/endToEnd/testing/plan.ts'
import { chain, serveChain, service } from '../server/endToEnd/testing/servedChain.ts'
import type { Hex } from '../server/endToEnd/testing/testChain.ts'
import { writeConfig } from '../server/endToEnd/testing/testService.ts'
import { Receiver } from '../server/webhooks/testing/receiver.ts'
import { endSessions, open, PLACES, run, type SessionOptions } from './testing/session.ts'
import manifest from './package.json' with { type: 'json' }

let lark: Hex
let file: string
let env: Record<string, string>
const folder = mkdtempSync(join(tmpdir(), 'assay-cli-'))
const options = (more: SessionOptions = {}): SessionOptions => ({ env, cwd: folder, ...more })
const id = String(CHAIN_ID)

/** The chain lives on its own while commands run. */
let isMining = true
async function mineOn(): Promise<void> {
  while (isMining) {
    await chain.mine()
    await new Promise(resolve => setTimeout(resolve, 1000))
  }
}
let mining: Promise<void>

serveChain(planWith(THIN), { tokens: ['LARK', 'MOTH', 'THIN'] })
beforeAll(async () => {
  lark = chain.token('LARK')
  file = writeConfig(chain)
  env = { ASSAY_URL: service.url, ASSAY_KEY: await service.key() }
  await service.untilTip(await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDC', 'LARK'), 'LARK', 900)))
  mining = mineOn()
})
afterAll(endSessions)
afterAll(async () => {
  isMining = false
  await mining
  rmSync(folder, { recursive: true })
})

const COLOUR = '\u001B['

describe.each(PLACES)('on %s', place => {
  const isTerminal = place === 'a terminal'

  it('quote: shows a price and its evidence, with colour only on a terminal', async () => {
    const { code, text, raw } = await run(place, ['quote', id, lark], options())
    expect(text).toMatch(/^1\.[0-9]+ USD\nconfidence {2}\d+ \((Low|Medium|High)\), caps [A-Z_]+ ≤ \d/)
    expect(text).toMatch(/\nroutes {6}\d+ accepted, \d+ rejected\n/)
    expect([code, raw.includes(COLOUR)]).toEqual([0, isTerminal])
  })

  it('quote --json: the whole answer on one line, without colour', async () => {
    const { code, raw } = await run(place, ['quote', id, lark, '--json'], options())
    expect(JSON.parse(raw)).toMatchObject({ state: 'PRICED', chain_id: CHAIN_ID, token: lark })
    expect([code, raw.includes(COLOUR)]).toEqual([0, false])
  })

  it('exit: shows what sales pay, how far below the price, and the largest sale within 1% and 5%', async () => {
    const { code, text } = await run(place, ['exit', id, lark, '--usd', '100,20000'], options())
    expect(text).toMatch(/^[0-9.]+ USD, confidence \d+ \(\w+\)\n +Sale +Pays +From the price +Routes\n/)
    expect(text).toMatch(/\n +\$100\.00 +\$\d+\.\d\d +[-+−]?[0-9.]+% +1\n/)
    expect(text).toMatch(/\nlargest sale within 1%: \$[0-9,.]+, within 5%: \$[0-9,.]+\n/)
    expect(code).toBe(0)
  })

  it.each([
    [['--usd', '0'], 'the size "0"; expected dollars above 0'],
    [['--usd', '1e309'], 'the size "1e309"; expected dollars above 0'],
    [['--usd', '-5'], 'the size "-5"; expected dollars above 0'],
    [['--amount', '1.5'], 'the size "1.5"; expected a whole number'],
    [['--usd', '1', '--amount', '1'], 'usd and amount are both given'],
  ])('exit: refuses %j and says what is wrong with it', async (sizes, wrong) => {
    const { code, text, errors } = await run(place, ['exit', id, lark, ...sizes], options())
    expect([code, `${text}${errors}`]).toEqual([2, expect.stringContaining(wrong)])
  })

  it('exit: a sale larger than the supply is more than the routes can absorb', async () => {
    const { code, text } = await run(place, ['exit', id, lark, '--amount', `1${'0'.repeat(60)}`], options())
    expect([code, text]).toEqual([0, expect.stringContaining('more than the routes can absorb')])
  })

  it('cost: shows what it takes to move the price, and that it is an upper bound', async () => {
    const { code, text } = await run(place, ['cost', id, lark], options())
    expect(text).toMatch(/\nMove +Put in +Lost if quiet +Lost to arbitrage +Held +Pools\n/)
    expect(text).toMatch(/\n\+1% +\$[0-9,.]+ +\$[0-9,.]+ +\$[0-9,.]+ +0 s +\d\n/)
    expect(text).toContain('cheaper ones may exist')
    expect(code).toBe(0)
  })

  it('decimals confirm: refused when no change of the token is waiting', async () => {
    const admin = { ...env, ASSAY_KEY: await service.key(['read', 'stream', 'admin']) }
    const asked = run(place, ['decimals', 'confirm', id, lark, '18'], options({ env: admin }))
    const { code, text, errors } = await asked
    expect([code, `${text}${errors}`]).toEqual([
      3,
      expect.stringContaining('no change of decimals is pending for token'),
    ])
  })

  it('quote, exit, verify and history accept a symbol', async () => {
    const bySymbol = await run(place, ['quote', id, 'lark', '--json'], options())
    expect(JSON.parse(bySymbol.raw)).toMatchObject({ state: 'PRICED', token: lark })
    expect((await run(place, ['verify', id, 'LARK'], options())).code).toBe(0)
    const none = await run(place, ['quote', id, 'NOBODY'], options())
    expect([none.code, `${none.text}${none.errors}`]).toEqual([
      3,
      expect.stringContaining(`chain ${id} has no token with the symbol NOBODY`),
    ])
  })

  it('verify: reports that the quote verifies', async () => {
    const { code, text } = await run(place, ['verify', id, lark], options())
    expect(text).toMatch(/^[0-9.]+ USD, confidence \d+: verified, \d+ numbers from its own evidence\n$/)
    expect(code).toBe(0)
  })

  it('history: shows records as published, at a time, and as candles', async () => {
    const { code, text } = await run(place, ['history', id, lark, '--from', '1h'], options())
    expect(text).toMatch(/^Time \(UTC\) +Price +Score +Block +Sequence +Remark\n/)
    expect(text).toMatch(/\n20\d\d-\d\d-\d\d \d\d:\d\d:\d\d +\$1\.\d+ +\d+ +\d+ +\d+\n/)
    expect(code).toBe(0)
    const candles = await run(place, ['history', id, lark, '--interval', '1m'], options())
    expect(candles.text).toMatch(/^From \(UTC\) +Open +High +Low +Close +Records\n20/)
    const at = await run(place, ['history', id, lark, '--at', '2020-01-01T00:00Z'], options())
    expect([at.text, at.code]).toEqual(['nothing was published in that period\n', 3])
  })

  it('search: finds by symbol and by address, and reports no match', async () => {
    const found = await run(place, ['search', 'lar'], options())
    expect(found.text).toMatch(new RegExp(`\\n +${id} {2}${lark} {2}LARK +\\$1\\.\\d+ +\\d\\n$`))
    const pool = chain.pool('uniswap-v2', 'USDC', 'LARK')
    const { text, code } = await run(place, ['search', pool], options())
    expect([text.includes(pool.toLowerCase()), code]).toEqual([true, 0])
    expect((await run(place, ['search', 'nobody'], options())).code).toBe(3)
  })

  it('replay: prints every record up to a position, and continues from there on the next run', async () => {
    const head = await service.head()
    const position = join(folder, `position-${isTerminal}`)
    const half = Math.floor(head / 2)
    const args = ['replay', id, '--json', '--position', position]
    const first = await run(place, [...args, '--to', String(half)], options())
    const rest = await run(place, [...args, '--to', String(head)], options())
    const sequences = [first, rest].flatMap(({ text }) =>
      text
        .split('\n')
        .filter(line => line.startsWith('{'))
        .map(line => (JSON.parse(line) as { stream_sequence: number }).stream_sequence),
    )
    const log = (await service.records(0)).map(record => record.stream_sequence).filter(each => each <= head)
    expect(sequences).toEqual(log)
    const { text } = await run(
      place,
      ['replay', id, '--to', String(head), '--types', 'price_upsert'],
      options(),
    )
    expect(text).toMatch(/^ +\d+ {2}20.* {2}PRICE_UPSERT {3}(token|pool) 0x/m)
    expect(text).not.toContain('FEED_HEALTH')
    const ahead = await run(place, ['replay', id, '--after', '999999999'], options())
    expect([ahead.code, `${ahead.text}${ahead.errors}`]).toEqual([
      3,
      expect.stringContaining('there are none after'),
    ])
  })

  it('keys: issued, listed, rolled and revoked', async () => {
    const config = ['--config', file]
    const issued = await run(
      place,
      ['keys', 'issue', '--name', 'cli', '--scopes', 'read', ...config],
      options(),
    )
    const keyId = /^assay_([0-9A-Za-z]{8})_/.exec(issued.text)?.[1] as string
    const listed = await run(place, ['keys', 'list', ...config], options())
    expect(listed.text).toMatch(new RegExp(`^${keyId} +cli +cli +read +20.* +live$`, 'm'))
    const rolled = await run(place, ['keys', 'roll', keyId, ...config, '--json'], options())
    const { key_id } = JSON.parse(rolled.text) as { key_id: string }
    expect(key_id).not.toBe(keyId)
    const revoked = await run(place, ['keys', 'revoke', key_id, ...config], options())
    expect([revoked.code, revoked.text]).toEqual([0, expect.stringContaining('has been revoked')])
    const wrong = await run(
      place,
      ['keys', 'issue', '--name', 'x', '--scopes', 'everything', ...config],
      options(),
    )
    expect([wrong.code, `${wrong.text}${wrong.errors}`]).toEqual([1, expect.stringContaining('everything')])
  })

  it('keys: manages a service on another machine, given its address and an admin key', async () => {
    const remote = ['--url', service.url, '--key', await service.key(['admin'])]
    const at = options({ cwd: mkdtempSync(join(folder, 'elsewhere-')) })
    const issued = await run(place, ['keys', 'issue', '--name', 'far', '--scopes', 'read', ...remote], at)
    const keyId = /^assay_([0-9A-Za-z]{8})_/.exec(issued.text)?.[1] as string
    const listed = await run(place, ['keys', 'list', ...remote], at)
    expect(listed.text).toMatch(new RegExp(`^${keyId} +far +far +read +20.* +live$`, 'm'))
    const rolled = await run(place, ['keys', 'roll', keyId, ...remote, '--json'], at)
    const { key_id } = JSON.parse(rolled.text) as { key_id: string }
    expect((await run(place, ['keys', 'revoke', key_id, ...remote], at)).code).toBe(0)
    const gone = await run(place, ['keys', 'revoke', key_id, ...remote], at)
    expect([gone.code, `${gone.text}${gone.errors}`]).toEqual([3, expect.stringContaining('no live key')])
    const weak = ['--url', service.url, '--key', await service.key(['read'])]
    const refused = await run(place, ['keys', 'list', ...weak], at)
    expect([refused.code, `${refused.text}${refused.errors}`]).toEqual([
      4,
      expect.stringContaining('lacks a scope'),
    ])
    const away = await run(place, ['keys', 'list', '--url', 'http://127.0.0.1:9', '--key', 'x'], at)
    expect([away.code, `${away.text}${away.errors}`]).toEqual([
      4,
      expect.stringContaining('Is the service running?'),
    ])
  })

  it('keys, doctor and db find the configuration that `npm start` wrote, or say where they looked', async () => {
    const cwd = mkdtempSync(join(folder, 'started-'))
    const missing = await run(place, ['keys', 'list'], options({ cwd }))
    expect([missing.code, `${missing.text}${missing.errors}`]).toEqual([
      2,
      expect.stringMatching(
        /no assay\.yaml and no data\/assay\.yaml in .*and no ASSAY_RPC_<chain_id> is set\./,
      ),
    ])
    mkdirSync(join(cwd, 'data'))
    copyFileSync(file, join(cwd, 'data', 'assay.yaml'))
    expect((await run(place, ['keys', 'list'], options({ cwd }))).text).toMatch(/^Key id +Consumer/)
    expect((await run(place, ['doctor'], options({ cwd }))).text).toContain('Every endpoint can be used.')
    expect((await run(place, ['db', 'check'], options({ cwd }))).text).toContain('The database is sound.')
  })

  it('doctor: prints a line for each finding of an endpoint', async () => {
    const { code, text } = await run(place, ['doctor', '--config', file], options())
    expect(text).toMatch(/ {4}✓ chain_id {4}\S/)
    expect([code, text]).toEqual([0, expect.stringContaining('Every endpoint can be used.')])
  })

  it('capture: writes blocks to a folder, and names what is wrong with its arguments', async () => {
    const to = join(folder, `captured-${isTerminal}`)
    const args = ['--config', file, '--chain', id, '--to', to]
    const { code, text } = await run(place, ['capture', '--blocks', '1..3', ...args], options())
    expect(text).toContain(`Blocks 1 to 3 of chain ${id}: 6 files written, 0 already existed.`)
    expect([code, existsSync(join(to, `${id}-3-receipts.json`))]).toEqual([0, true])
    const again = await run(place, ['capture', '--blocks', '2', ...args, '--json'], options())
    expect(JSON.parse(again.text)).toMatchObject({
      from_block: 2,
      written: 0,
      same: 2,
      differing: [],
    })
    const backwards = await run(place, ['capture', '--blocks', '3..1', ...args], options())
    expect([backwards.code, `${backwards.text}${backwards.errors}`]).toEqual([
      2,
      expect.stringContaining('1..3 is a range'),
    ])
    const other = await run(
      place,
      ['capture', '--blocks', '1', '--config', file, '--chain', '5', '--to', to],
      options(),
    )
    expect([other.code, `${other.text}${other.errors}`]).toEqual([
      2,
      expect.stringContaining('chain 5 is not in the configuration'),
    ])
  })

  it('backfill: scans the past, with a progress bar on a terminal', async () => {
    const { code, text, raw } = await run(place, ['backfill', '--config', file, '--chain', id], options())
    expect(text).toMatch(/Done: blocks \d+ to \d+, \d+ events\.\n/)
    expect([code, raw.includes('█')]).toEqual([0, isTerminal])
  })

  it('db: checks and backs up while the service runs', async () => {
    const check = await run(place, ['db', 'check', '--config', file], options())
    expect(check.text).toMatch(/epoch 0: \d+ records from 1 to \d+, .*\nThe database is sound\.\n$/)
    const copy = join(folder, `copy-${isTerminal}.db`)
    const backup = await run(place, ['db', 'backup', '--config', file, '--to', copy, '--json'], options())
    expect(JSON.parse(backup.text.trim().split('\n').at(-1) ?? '')).toMatchObject({ file: copy, epoch: 0 })
    expect(existsSync(copy)).toBe(true)
    const restore = await run(place, ['db', 'restore', '--config', file, '--from', copy], options())
    expect([restore.code, `${restore.text}${restore.errors}`]).toEqual([
      1,
      expect.stringMatching(/Process \d+ is using .*: stop that one first/),
    ])
    const to = 'postgres://nobody@127.0.0.1:1/none'
    const move = await run(place, ['db', 'move', '--config', file, '--to', to], options())
    expect([move.code, `${move.text}${move.errors}`]).toEqual([1, expect.stringMatching(/is using .*first/)])
  })

  it('start: serves assay.yaml if present, without the world; a restart uses the same key', async () => {
    const own = mkdtempSync(join(tmpdir(), 'assay-file-'))
    copyFileSync(writeConfig(chain, { name: `start-${isTerminal}` }), join(own, 'assay.yaml'))
    const begin = async () => {
      const session = open(place, ['start'], options({ cwd: own }))
      await session.until(/Assay serves Test chain\./)
      const [, url] = await session.until(/Console +(\S+?)\/\s/)
      const [key] = await session.until(/assay_\w+/)
      const answer = await fetch(`${url}/v1/chains`, { headers: { authorization: `Bearer ${key}` } })
      expect(await answer.json()).toMatchObject({ chains: [{ name: 'Test chain' }] })
      session.interrupt()
      expect((await session.ended).code).toBe(0)
      return key
    }
    const key = await begin()
    expect(await begin()).toBe(key)
    // A different database, so the key is issued again.
    copyFileSync(writeConfig(chain, { name: `other-${isTerminal}` }), join(own, 'assay.yaml'))
    expect(await begin()).not.toBe(key)
    expect(existsSync(join(own, 'data', 'world'))).toBe(false)
    rmSync(own, { recursive: true })
  })

  it('serve: prints where it listens, and stops on Ctrl-C', async () => {
    const own = writeConfig(chain, { name: `own-${isTerminal}` })
    const session = open(place, ['serve', '--config', own], options())
    const [, url] = await session.until(/Assay serves at (\S+)/)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    session.interrupt()
    expect((await session.ended).code).toBe(0)
  })
})

describe('watch', () => {
  it('is a live table on a terminal: price, change, score, age, health; keys sort, scroll and quit', async () => {
    const session = open('a terminal', ['watch'], options({ columns: 90, rows: 12 }))
    const shown = () => session.screen
    await session.until(/Test chain \(1\) +healthy +\d+ +\d+ (s|min) +live/, shown)
    await session.until(
      / 1 {2}LARK +\$1\.\d+ +(–|[+-]?\d+\.\d\d%) +\d+ {2}(Low|Medium|High) +\d+ (s|min) {2}healthy/,
      shown,
    )
    expect(session.screen).toMatch(/Chain +Token +Price +1 h +Score +Age +Health/)
    for (const line of session.screen.split('\n')) expect(line.length).toBeLessThanOrEqual(90)
    expect(session.screen.split('\n').length).toBeLessThanOrEqual(12)
    await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDT', 'MOTH'), 'MOTH', 100_000))
    await session.until(/MOTH +\$0\.0\d+ +-\d+\.\d\d%/, shown)
    session.press('s')
    await session.until(/sort: change/, shown)
    session.press('j')
    await session.until(/ 2–\d+ of \d+/, shown)
    session.press('q')
    const { code, raw } = await session.ended
    // The screen of before is given back, with its cursor.
    expect([code, raw.endsWith('\u001B[?25h\u001B[?1049l')]).toEqual([0, true])
  })

  it.each([
    [80, /Chain +Token +Price +1 h +Score +Age {2}Health/, / 1 {2}THIN +– +– +– {2}NO_ROUTE /],
    [60, /Chain +Token +Price +1 h +Score +Age$/m, / 1 {2}THIN +– +– +– {2}NO_ROUTE +/],
    [44, /^Chain {2}Token +Price +1 h +Score$/m, / 1 {2}THIN +NO_ROUTE +– +–/],
  ])(
    'fits a terminal of %i columns, folding some, and still shows why there is no price',
    async (columns, heading, unpriced) => {
      const session = open('a terminal', ['watch'], options({ columns, rows: 20 }))
      const shown = () => session.screen
      await session.until(heading, shown)
      await session.until(unpriced, shown)
      await session.until(/^Test chain \(1\) +healthy +/m, shown)
      await session.until(/ of \d+$/m, shown)
      for (const line of session.screen.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
      session.press('q')
      expect((await session.ended).code).toBe(0)
    },
  )

  it('prints one line per change in a pipe, and JSON lines', async () => {
    const lines = open('a pipe', ['watch', id], options())
    const json = open('a pipe', ['watch', id, '--json'], options())
    await Promise.all([lines.until(/ live\n/), json.until(/"status":"live"/)])
    await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDC', 'LARK'), 'LARK', 500))
    await chain.untilMining('the price in both', () =>
      Promise.resolve(/LARK +\$1\.\d+ {2}score \d/.test(lines.text) && json.text.includes('"PRICE_UPSERT"')),
    )
    for (const session of [lines, json]) session.interrupt()
    const [a, b] = await Promise.all([lines.ended, json.ended])
    expect([a.code, b.code, a.raw.includes(COLOUR)]).toEqual([0, 0, false])
    for (const line of b.text.trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ chain_id: CHAIN_ID })
  })
})

it.each(PLACES)('export: writes the log as a file in each format, with its position, on %s', async place => {
  const head = await service.head()
  for (const format of ['csv', 'ndjson', 'parquet']) {
    const path = `prices-${place.length}.${format}`
    const done = await run(place, ['export', 'prices', path, '--to', String(head)], options())
    expect([done.code, done.text]).toEqual([0, expect.stringContaining(`to ${head},`)])
    const again = await run(place, ['export', 'prices', path], options())
    expect([again.code, `${again.text}${again.errors}`]).toEqual([
      2,
      expect.stringContaining('a complete export'),
    ])
  }
  const path = `candles-${place.length}.csv`
  const candles = ['export', 'candles', path, '--interval', '1m']
  const done = await run(place, [...candles, '--to', String(head)], options())
  expect([done.code, done.text]).toEqual([
    0,
    expect.stringMatching(/candles from .*Z to .*Z, as of record \d+,/),
  ])
  const next = /--from (\d{13})/.exec(done.text)?.[1]
  const again = await run(place, candles, options())
  expect([again.code, `${again.text}${again.errors}`]).toEqual([2, expect.stringContaining(`--from ${next}`)])
  const cut = await run(place, ['export', 'candles', 'cut.csv', '--after', '3'], options())
  expect([cut.code, `${cut.text}${cut.errors}`]).toEqual([
    2,
    expect.stringContaining('candles begin at from_ms'),
  ])
  const wrong = await run(place, ['export', 'prices', 'file.xls'], options())
  expect([wrong.code, `${wrong.text}${wrong.errors}`]).toEqual([
    2,
    expect.stringContaining('no known extension'),
  ])
})

it.each(PLACES)('webhooks: registered, tested, listed, replayed, paused and deleted, on %s', async place => {
  const receiver = await Receiver.open()
  const of = ['--chain', id, '--token', 'LARK', '--crosses', '0.5']
  const added = await run(place, ['webhooks', 'add', receiver.url, ...of], options())
  const [, hook = '', secret = ''] =
    /^([0-9a-f]{32})\n(whsec_\S+)\n\nThis is the only time/.exec(added.text) ?? []
  expect([added.code, hook]).toEqual([0, expect.stringMatching(/./)])
  receiver.secret = secret
  const tested = await run(place, ['webhooks', 'test', hook], options())
  expect([tested.text, tested.code, receiver.forged]).toEqual(['delivered: status 204\n', 0, []])
  receiver.secret = null
  const words = /crosses 0\.5 USD, chain \d+ 0x[0-9a-f]{40}/
  for (const args of [
    ['webhooks', 'list'],
    ['webhooks', 'show', hook],
    ['webhooks', 'resume', hook],
    ['webhooks', 'replay', hook, '--after', String(await service.head())],
  ])
    expect((await run(place, args, options({ columns: 300 }))).text).toMatch(words)
  expect((await run(place, ['webhooks', 'pause', hook], options({ columns: 300 }))).text).toContain('paused')
  expect((await run(place, ['webhooks', 'rotate', hook], options())).text).toContain('whsec_')
  const none = await run(place, ['webhooks', 'deliveries', hook], options())
  expect([none.text, none.code]).toEqual(['nothing has been delivered yet\n', 0])
  expect((await run(place, ['webhooks', 'remove', hook], options())).text).toBe(`${hook} has been deleted.\n`)
  const gone = await run(place, ['webhooks', 'show', hook], options())
  expect(gone.code).toBe(3)
  const two = await run(place, ['webhooks', 'add', receiver.url, ...of, '--health'], options())
  expect([two.code, `${two.text}${two.errors}`]).toEqual([2, expect.stringContaining('give one condition')])
  await receiver.close()
})

it('prints its version', async () => {
  const { code, text, errors } = await run('a pipe', ['--version'], options())
  expect([code, text.trim(), errors]).toEqual([0, manifest.version, ''])
})

describe('an error is printed with what to do next and an exit code', () => {
  it.each([
    [['qoute'], 2, /unknown command 'qoute'\n\(Did you mean quote\?\)/],
    [['world', 'incidnt'], 2, /world --help|incident/],
    [['quote', '1'], 2, /missing required argument 'token'\nSee `assay quote --help`/],
    [['quote', '1', '0x12'], 2, /Expected an address/],
    [['quote', '1', `0x${'12'.repeat(20)}`, '--url', 'http://127.0.0.1:9'], 4, /`npm start` starts one/],
    [['serve', '--config', 'nowhere.yaml'], 2, /nowhere\.yaml has a fault/],
    [['watch', '777'], 3, /chain 777 is not served; served are 1/],
    [['history', id, 'x'], 3, /no token with the symbol x/],
    [['history', id, `0x${'12'.repeat(20)}`, '--from', 'soon'], 2, /Expected 15m, 2h or 7d ago/],
    [['search', '0x12'], 2, /0x and 40 or 64 hex digits/],
    [['config', 'check'], 2, /ASSAY_RPC_<chain_id>=url/],
    [['world', 'incident', 'rug', '--data', '.'], 1, /no world runs in .*npm start/],
    [['completion', 'tcsh'], 2, /Allowed choices are bash, zsh, fish/],
  ] as const)('assay %j exits with %i', async (args, code, words) => {
    const ended = await run('a pipe', args, options())
    expect(ended.errors).toMatch(words)
    expect([ended.code, ended.text]).toEqual([code, ''])
  })

  it('reports a wrong key, and a key without the scope', async () => {
    const wrong = await run('a pipe', ['quote', id, lark, '--key', 'assay_wrong'], options())
    expect([wrong.code, wrong.errors]).toEqual([
      4,
      expect.stringContaining('export ASSAY_KEY=$(cat data/key)'),
    ])
    const weak = await run('a pipe', ['watch', '--key', await service.key(['admin'])], options())
    expect([weak.code, weak.errors]).toEqual([4, expect.stringContaining('lacks a scope')])
  })

  it('a reader that closes the pipe early is not a failure', async () => {
    const session = open('a pipe', ['replay', id, '--json', '--follow'], options())
    await session.until(/\{/)
    session.stopReading()
    expect((await session.ended).code).toBe(0)
  })
})
