/** Arbitrary command lines give a value of the right kind, or a sentence and exit code 2. */
import * as fc from 'fast-check'
import { CommanderError, InvalidArgumentError } from 'commander'
import { expect, it } from 'vitest'
import { runs, SECRET, survive, text } from '../server/ops/testing/hostile.ts'
import { endingOf } from './exit.ts'
import { moment, port, tokenAddress, whole } from './options.ts'
import { assayProgram } from './program.ts'

const isOwn = (failure: unknown) => failure instanceof InvalidArgumentError

it('a number, a port, an address and a time are parsed or refused', () => {
  const word = fc.oneof(
    text(),
    fc.constantFrom(
      '0',
      '65535',
      '65536',
      '15m',
      '999999d',
      '2026-11-15',
      '1763164800000',
      '0x10',
      '-1',
      '1e3',
      `0x${'Ab'.repeat(20)}`,
    ),
  )
  fc.assert(
    fc.property(word, each => {
      const count = survive(() => whole(each), isOwn)
      if (count !== null) expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
      const at = survive(() => port(each), isOwn)
      if (at !== null) expect(at >= 0 && at <= 65_535).toBe(true)
      const address = survive(() => tokenAddress(each), isOwn)
      if (address !== null) expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
      const time = survive(() => moment(each), isOwn)
      if (time !== null) expect(Number.isSafeInteger(time)).toBe(true)
    }),
    runs(200),
  )
})

const commands = assayProgram().commands.map(command => command.name())

/** A word that no option knows stops a command before it does anything. */
it('a command line of arbitrary words is refused with exit code 2 and shows no secret', async () => {
  const word = fc.oneof(
    text(20).filter(each => !/^-*(h|help|version)/i.test(each)),
    fc.constantFrom('--json', '--url', '--chain', '--limit=1e9', '--', '-', '--__proto__', '--no-such=1'),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...commands, 'no-such'),
      fc.array(word, { maxLength: 4 }),
      async (name, words) => {
        const said: string[] = []
        const program = assayProgram()
        const quiet = {
          writeOut: (line: string) => void said.push(line),
          writeErr: (line: string) => void said.push(line),
        }
        for (const each of [
          program,
          ...program.commands,
          ...program.commands.flatMap(({ commands: inner }) => inner),
        ])
          each.configureOutput(quiet)
        const failure: unknown = await program
          .parseAsync([name, '--no-such-option', ...words, '--key', SECRET], { from: 'user' })
          .catch((caught: unknown) => caught)
        expect(failure).toBeInstanceOf(CommanderError)
        expect(endingOf(failure).code).toBe(2)
        expect(said.join('')).not.toContain(SECRET)
      },
    ),
    runs(30),
  )
})
