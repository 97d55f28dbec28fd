/** The tree of commands, in the order of the help. */
import { Command } from 'commander'
import { backfillCommand } from './commands/backfill.ts'
import { captureCommand } from './commands/capture.ts'
import { completionCommand } from './commands/completion.ts'
import { configCommand } from './commands/config.ts'
import { dbCommand } from './commands/db.ts'
import { doctorCommand } from './commands/doctor.ts'
import { exportCommand } from './commands/export.ts'
import { historyCommand } from './commands/history.ts'
import { decimalsCommand } from './commands/decimals.ts'
import { keysCommand } from './commands/keys.ts'
import { costCommand } from './commands/cost.ts'
import { exitCommand } from './commands/exit.ts'
import { mcpCommand } from './commands/mcp.ts'
import { quoteCommand } from './commands/quote.ts'
import { replayCommand } from './commands/replay.ts'
import { searchCommand } from './commands/search.ts'
import { serveCommand } from './commands/serve.ts'
import { startCommand } from './commands/start.ts'
import { verifyCommand } from './commands/verify.ts'
import { watchCommand } from './commands/watch.ts'
import { webhooksCommand } from './commands/webhooks.ts'
import { worldCommand } from './commands/world.ts'
import manifest from './package.json' with { type: 'json' }

const EXIT_CODES = `
Exit codes: 0 done; 1 failed, or a check found a fault; 2 the command line or the configuration is wrong;
3 there is no price or nothing was found; 4 the service was not reached or refused the key.`

export function assayProgram(): Command {
  const program = new Command('assay')
    .description('USD prices of long-tail EVM tokens, each with its evidence and a weakest-link confidence')
    .version(manifest.version, '--version', 'print the version')
    .enablePositionalOptions()
    .addHelpText('after', EXIT_CODES)
  program.commandsGroup('Run')
  for (const command of [startCommand(), serveCommand(), worldCommand()]) program.addCommand(command)
  program.commandsGroup('Query a running service')
  for (const command of [
    quoteCommand(),
    exitCommand(),
    costCommand(),
    watchCommand(),
    verifyCommand(),
    historyCommand(),
    searchCommand(),
    replayCommand(),
    exportCommand(),
    webhooksCommand(),
    mcpCommand(),
  ])
    program.addCommand(command)
  program.commandsGroup('Operate')
  for (const command of [
    keysCommand(),
    decimalsCommand(),
    configCommand(),
    doctorCommand(),
    backfillCommand(),
    captureCommand(),
    dbCommand(),
    completionCommand(program),
  ])
    program.addCommand(command)
  everywhere(program, command =>
    command
      .exitOverride()
      .showHelpAfterError(`See \`${pathOf(command)} --help\`.`)
      .helpCommand(false),
  )
  return program
}

/** A subcommand does not inherit the settings of its parent. */
function everywhere(command: Command, change: (command: Command) => void): void {
  change(command)
  for (const each of command.commands) everywhere(each, change)
}

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
