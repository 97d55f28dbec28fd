/** Refusals, each with its sentence and its exit code, in this process: those that no running service is needed for. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AssayError } from '@assay/sdk'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { localService } from '../sdk/testing/localService.ts'
import { endingOf, Failure } from './exit.ts'
import { refuseTakenPort } from './local/ground.ts'
import { assayProgram } from './program.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-refusals-'))
const at = (name: string) => join(folder, name)
const token = `0x${'12'.repeat(20)}`
const NOBODY = 'http://127.0.0.1:9'

beforeAll(() => {
  for (const name of ['ASSAY_URL', 'ASSAY_KEY']) vi.stubEnv(name, undefined)
  writeFileSync(at('notes.csv'), 'mine')
  writeFileSync(at('junk'), 'not a position')
  writeFileSync(at('trades.csv'), '')
  const trades = { kind: 'swaps', format: 'csv', filter: {}, to_sequence: 7, is_complete: false }
  writeFileSync(at('trades.csv.position.json'), JSON.stringify(trades))
  mkdirSync(at('damaged'))
  writeFileSync(join(at('damaged'), 'position.json'), '{')
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

/** What `assay` prints as an error, and its exit code. */
async function refusalOf(args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const said: string[] = []
  const program = assayProgram()
  const quiet = { writeOut: () => {}, writeErr: (line: string) => void said.push(line) }
  for (const each of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
    each.configureOutput(quiet)
  const failure: unknown = await program.parseAsync(args, { from: 'user' }).catch((caught: unknown) => caught)
  const { code, text } = endingOf(failure)
  return { code, text: `${said.join('')}${text}` }
}

describe('a command line that cannot be meant is exit code 2, and says what was expected', () => {
  it.each([
    [['keys', 'list', '--url', 'nowhere'], '--url nowhere is not an address such as http://127.0.0.1:8080'],
    [['keys', 'list', '--url', NOBODY], '--url needs an admin key: give it with --key or ASSAY_KEY'],
    [['quote', '1', ' '], 'Expected an address or a symbol.'],
    [['quote', '1', '0x12'], 'Expected an address, 0x and 40 hex digits'],
    [['quote', 'one', token], 'Expected a whole number.'],
    [['history', '1', token, '--from', 'soon'], 'Expected 15m, 2h or 7d ago'],
    [['serve', '--port', '70000'], 'Expected a port from 0 to 65535.'],
    [['serve', '--chain', '1'], '--chain selects the chains a process writes: use it with --role chain'],
    [['serve', '--role', 'chain', '--port', '1'], '--port is where the API listens'],
    [['capture', '--blocks', 'x'], 'Expected a block, or two with dots between them'],
    [['capture', '--blocks', '3..1'], 'It ends before it begins; 1..3 is a range.'],
    [['capture', '--blocks', '1..99999999'], 'capture them in parts.'],
    [['config', 'init', '--chains', '1,1'], 'A chain is named twice.'],
    [['db', 'restore', '--from', 'x', '--epoch', '99999'], 'Expected an epoch from 0 to 9999.'],
    [['doctor', '--timeout', '5'], 'Expected milliseconds from 100 to 99999.'],
    [['mcp', '--min-score', '11'], 'Expected a score from 0 to 10.'],
    [['replay', '1', '--types', 'nothing'], 'Expected some of '],
    [['export', 'prices'], 'name the file to write, or a folder with --folder'],
    [
      ['export', 'prices', 'x.csv', '--follow'],
      '--follow applies only to a folder: add --folder, or omit it',
    ],
    [
      ['export', 'prices', 'x.csv', '--folder', 'y'],
      'the export goes to the file x.csv or to --folder: give one of them',
    ],
    [['export', 'prices', '--folder', 'y', '--to', '5'], '--to applies only to a file: omit it'],
    [['export', 'candles', '--folder', 'y'], 'candles are not written to a folder'],
    [['export', 'prices', 'x.xls'], 'has no known extension'],
    [['export', 'prices', at('notes.csv')], 'exists and was not created by an export: choose another name'],
    [
      ['export', 'prices', at('trades.csv')],
      'is another export, up to 7: choose another name, with --after 7',
    ],
    [['export', 'prices', '--folder', at('damaged')], 'is not from an export: choose another folder'],
    [
      ['export', 'prices', '--folder', folder, '--format', 'csv'],
      'has notes.csv, which is not of this export',
    ],
    [['export', 'prices', '--folder', at('notes.csv')], 'is a file: name a folder with --folder'],
    [['webhooks', 'add', NOBODY, '--chain', '1'], 'give one condition: --crosses, --moves'],
    [
      ['webhooks', 'add', NOBODY, '--chain', '1', '--health', '--direction', 'up'],
      '--direction requires --crosses',
    ],
    [['webhooks', 'add', NOBODY, '--chain', '1', '--moves', '2'], 'name the token with --token'],
    [['webhooks', 'add', NOBODY, '--chain', '1', '--moves', '0'], 'Expected a percentage above 0'],
  ])('%j', async (args, words) => {
    const { code, text } = await refusalOf(args)
    expect([code, text]).toEqual([2, expect.stringContaining(words)])
  })
})

it('what a service cannot be asked is exit code 4', async () => {
  for (const args of [
    ['export', 'prices', at('new.csv'), '--url', NOBODY],
    ['quote', '1', token, '--url', NOBODY],
  ])
    expect(await refusalOf(args)).toEqual({
      code: 4,
      text: expect.stringMatching(/`npm start` starts one/) as string,
    })
})

describe('an answer of a service becomes an exit code', () => {
  /** Every request gets this answer. */
  const refusedBy = async (
    answer: Parameters<typeof localService>[0],
    ...args: readonly string[]
  ): Promise<{ readonly code: number; readonly text: string }> => {
    const service = await localService(answer)
    const refusal = await refusalOf([...args, '--url', service.url])
    await service.close()
    return refusal
  }
  const session = (resume_cursor: string | null) => () => ({
    status: 200,
    body: { resume_cursor, stream: { oldest_sequence: 5, head_sequence: 9 } },
  })

  it.each([
    [429, { 'retry-after': '7' }, '{"error":"too many exports"}', 4, 'too many exports'],
    [403, {}, '', 4, 'the service refused (status 403)'],
    [400, {}, 'after_sequence is wrong', 2, 'after_sequence is wrong'],
  ])('export, refused with %i', async (status, headers, body, code, text) => {
    const refused = await refusedBy(() => ({ status, headers, body }), 'export', 'prices', at('none.csv'))
    expect(refused).toEqual({ code, text })
  })

  it('two tokens of one symbol are listed, and neither is guessed', async () => {
    const tokens = ['aa', 'bb'].map(byte => ({
      chain_id: 1,
      token_address: `0x${byte.repeat(20)}`,
      symbol: 'TWIN',
      name: null,
    }))
    const answer = () => ({ status: 200, body: { tokens, next_cursor: null } })
    const { code, text } = await refusedBy(answer, 'quote', '1', 'twin')
    expect([code, text]).toEqual([
      2,
      `2 tokens of chain 1 have the symbol twin; give the address of the one you mean:\n${tokens.map(each => `  ${each.token_address}`).join('\n')}`,
    ])
  })

  it('replay: a position that is none, one that is ahead, and a service without a cursor', async () => {
    const replay = ['replay', '1'] as const
    const junk = await refusedBy(session(null), ...replay, '--position', at('junk'))
    expect(junk).toEqual({
      code: 2,
      text: `${at('junk')} holds no position: remove it, or name another file`,
    })
    const ahead = await refusedBy(session(null), ...replay, '--after', '10')
    expect(ahead).toEqual({ code: 3, text: 'the newest record is 9; there are none after 10' })
    const none = await refusedBy(session(null), ...replay)
    expect(none).toEqual({ code: 1, text: 'the service returned no cursor' })
  })

  it.each([
    ['REPLAY_UNAVAILABLE', 'these records are no longer retained; use --after 4 to begin with the oldest'],
    ['INVALID_CURSOR', 'the log cannot be resumed there: INVALID_CURSOR; start again with --after 4'],
  ])('replay: a reset because of %s names where to begin', async (reason, text) => {
    const service = await localService(session('cursor'))
    const refusal = refusalOf(['replay', '1', '--url', service.url])
    const { socket } = await service.connection()
    socket.send(JSON.stringify({ type: 'RESET_REQUIRED', payload: { reason, server_time_unix_ms: 1 } }))
    socket.close(1000)
    expect(await refusal).toEqual({ code: 3, text })
    await service.close()
  })

  it('replay: a stream that is closed for good is exit code 4, with its close code', async () => {
    const service = await localService(session('cursor'))
    const refusal = refusalOf(['replay', '1', '--url', service.url])
    const { socket } = await service.connection()
    socket.close(1008, 'wrong filter')
    expect(await refusal).toEqual({ code: 4, text: 'the stream ended: 1008 wrong filter' })
    await service.close()
  })
})

describe('an export into a folder', () => {
  /** Something else happens to the folder while the service answers. */
  async function exportWhile(name: string, event: (path: string) => void) {
    const path = at(name)
    const service = await localService(() => {
      event(path)
      const position = { 'after-sequence': '0', 'to-sequence': '2', 'to-committed-ms': '1' }
      const headers = Object.entries(position).map(([key, value]) => [`assay-${key}`, value])
      return { status: 200, headers: Object.fromEntries(headers) as Record<string, string>, body: 'a,b' }
    })
    const refusal = await refusalOf(['export', 'prices', '--folder', path, '--url', service.url])
    await service.close()
    return refusal
  }

  it('stops when another one writes to the same folder', async () => {
    const piece = 'prices-0000000000000001-0000000000000002.parquet.part'
    expect(await exportWhile('shared', path => writeFileSync(join(path, piece), ''))).toEqual({
      code: 1,
      text: `${join(at('shared'), piece)}: another export writes to this folder; run one at a time`,
    })
  })

  it('stops when the disk refuses a file, and says that the same command resumes', async () => {
    const takePlace = (path: string) => mkdirSync(join(path, 'position.json.part'))
    expect(await exportWhile('refused', takePlace)).toEqual({
      code: 1,
      text: `${at('refused')} cannot be written (EISDIR): make room or check the owner, then run the same command again to resume`,
    })
  })
})

describe('Ctrl-C', () => {
  it.each([
    [
      'capture',
      ['--blocks', '1..2', '--to', at('captured')],
      'stopped; the files written so far are complete',
    ],
    ['backfill', ['--config', at('assay.yaml')], 'stopped; run it again to resume'],
  ] as const)('ends %s with what to do next', async (command, options, text) => {
    const requested = Promise.withResolvers<null>()
    const endpoint = await localService(() => {
      requested.resolve(null)
      return null
    })
    writeFileSync(
      at('assay.yaml'),
      `store: sqlite:${at('assay.db')}\nchains: [{ chain_id: 1, endpoints: [{ name: slow, url: '${endpoint.url}' }] }]\n`,
    )
    vi.stubEnv('ASSAY_RPC_1', endpoint.url)
    const refusal = refusalOf([command, '--chain', '1', ...options])
    // A command that ends before it asks fails below instead of waiting.
    await Promise.race([requested.promise, refusal])
    process.emit('SIGINT')
    expect(await refusal).toEqual({ code: 1, text })
    vi.stubEnv('ASSAY_RPC_1', undefined)
    await endpoint.close()
  })
})

it('a port that needs a privilege says which ones do not', async () => {
  // Root may listen anywhere, so the refusal is made here.
  const listen = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    this.emit('error', Object.assign(new Error('no'), { code: 'EACCES' }))
    return this
  })
  await expect(refuseTakenPort('127.0.0.1', 80)).rejects.toThrow(
    'port 80 of 127.0.0.1 needs a privilege: choose one above 1023 with --port',
  )
  listen.mockRestore()
})

describe('the ending of a failure', () => {
  it.each([
    ['NETWORK', 4, 'Is the service running? `npm start` starts one'],
    ['TIMEOUT', 4, 'did not answer in time; try again'],
    ['UNAUTHENTICATED', 4, 'export ASSAY_KEY=$(cat data/key)'],
    ['FORBIDDEN', 4, 'lacks a scope'],
    ['RATE_LIMITED', 4, '(in 3 s)\nTry again later, or ask the operator'],
    ['INVALID_ADDRESS', 2, 'in lower case or with its checksum'],
    ['INVALID_PARAMS', 2, 'it failed'],
    ['BAD_REQUEST', 2, 'it failed'],
    ['UNSUPPORTED_CHAIN', 3, 'searches every chain that is served'],
    ['NOT_FOUND', 3, 'it failed'],
    ['TOKEN_UNKNOWN', 3, 'it failed'],
    ['NOT_A_POOL', 3, 'it failed'],
    ['NO_ROUTE', 3, 'it failed'],
    ['STREAM_CLOSED', 1, '`assay doctor` and the log of the service have more details'],
    ['INTERNAL', 1, 'it failed'],
  ] as const)('%s is exit code %i', (code, exit, words) => {
    const retryAfterMs = code === 'RATE_LIMITED' ? 2500 : null
    const ending = endingOf(new AssayError({ code, message: 'it failed', retryAfterMs }))
    expect([ending.code, ending.text]).toEqual([exit, expect.stringContaining(words)])
  })

  it('a file that cannot be written names its path, its code and what to do', () => {
    for (const [code, syscall, words] of [
      ['EACCES', 'open', '/x cannot be opened (EACCES): check the owner of the folder'],
      ['EROFS', 'mkdir', '/x cannot be created (EROFS)'],
      ['ENOSPC', 'open', '/x cannot be opened (ENOSPC)'],
    ] as const) {
      const failure = Object.assign(new Error('no'), { code, path: '/x', syscall })
      expect(endingOf(failure)).toEqual({ code: 1, text: expect.stringContaining(words) as string })
    }
  })

  it('a configuration or a policy that is wrong is misuse; anything else is a failure with its own words', () => {
    for (const name of ['ConfigError', 'PolicyError'])
      expect(endingOf(Object.assign(new Error('wrong'), { name }))).toEqual({ code: 2, text: 'wrong' })
    expect(endingOf(new Failure('found a fault'))).toEqual({ code: 1, text: 'found a fault' })
    expect(endingOf(new Error('no room'))).toEqual({ code: 1, text: 'no room' })
    expect(endingOf('thrown')).toEqual({ code: 1, text: 'thrown' })
  })
})
