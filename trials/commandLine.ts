/** The command line of a trial: what it takes, on --help with exit code 0, and on any fault in it with exit code 2. */
import { parseArgs, type ParseArgsConfig } from 'node:util'

type Takes = Pick<ParseArgsConfig, 'options' | 'allowPositionals'>

/** `usage` is the command with its options; further lines say what they do. */
export function commandLine<const Given extends Takes>(usage: string, takes: Given) {
  const args = process.argv.slice(2)
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`usage: ${usage}`)
    process.exit(0)
  }
  try {
    return parseArgs({ ...takes, args })
  } catch (failure) {
    // The rest of the message explains how to pass a word that begins with a dash.
    const [fault = ''] = (failure as Error).message.split('. ')
    return misused(usage, fault)
  }
}

export function misused(usage: string, fault: string): never {
  console.error(`${fault}\nusage: ${usage}`)
  process.exit(2)
}
