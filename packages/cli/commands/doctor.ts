/** `assay doctor`: what each configured endpoint can and cannot do, as a table or as JSON; exit code 1 when one fails. */
import type { Check, Diagnosis } from '@assay/server/doctor'
import { Command, InvalidArgumentError } from 'commander'
import { EXIT } from '../exit.ts'
import { installedConfig, withInstalled } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { during } from '../terminal/progress.ts'

type Options = { readonly config?: string; readonly json?: boolean; readonly timeout: number }

const COLOUR = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const WIDTH = 12

export const doctorCommand = (): Command =>
  withInstalled(new Command('doctor'))
    .description('check what every configured endpoint serves and supports; exit code 1 if one fails')
    .option('--timeout <ms>', 'the time limit for one response', timeout, 5000)
    .action(runDoctor)

const timeout = (text: string): number => {
  if (!/^\d{3,5}$/.test(text)) throw new InvalidArgumentError('Expected milliseconds from 100 to 99999.')
  return Number(text)
}

async function runDoctor(options: Options): Promise<void> {
  const { diagnose } = await import('@assay/server/doctor')
  const config = await installedConfig(options)
  const diagnosis = await during('Checking the endpoints', () =>
    diagnose(config, { deadlineMs: options.timeout }),
  )
  print(options, diagnosis, () => text(diagnosis))
  if (!diagnosis.healthy) process.exitCode = EXIT.failed
}

function text({ chains, warnings, healthy }: Diagnosis): string {
  const lines: string[] = []
  for (const chain of chains) {
    lines.push(`chain ${chain.chain_id}  ${chain.name}`)
    for (const { name, key, status, checks } of chain.endpoints) {
      lines.push(`  ${name}  ${painted(status, status)}  ${key}`)
      for (const check of checks) lines.push(...line(check))
    }
    for (const fault of chain.faults) lines.push(`  ${painted('fail', 'fail')}  ${fault}`)
    lines.push('')
  }
  for (const warning of warnings) lines.push(`${painted('warn', 'warn')}  ${warning}`)
  lines.push(healthy ? 'Every endpoint can be used.' : 'Not everything can be used; see above.')
  return lines.join('\n')
}

function line({ name, status, value, fix }: Check): string[] {
  const mark = painted(status, { ok: '✓', warn: '!', fail: '✗' }[status])
  return [
    `    ${mark} ${name.padEnd(WIDTH)}${value}`,
    ...(fix === null ? [] : [`      ${''.padEnd(WIDTH)}→ ${fix}`]),
  ]
}

const painted = (status: Check['status'], words: string): string => paint(COLOUR[status], words)
