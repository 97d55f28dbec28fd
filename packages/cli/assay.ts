/** `assay`: one command line for the service, its local world, its keys and its prices. */
import { endingOf } from './exit.ts'
import { assayProgram } from './program.ts'
import { harmless } from './terminal/harmless.ts'

// A reader that closes early, such as `head`, is not a failure.
process.stdout.on('error', (failure: NodeJS.ErrnoException) => {
  if (failure.code !== 'EPIPE') throw failure
  process.exit(0)
})

try {
  await assayProgram().parseAsync()
} catch (failure) {
  const { text, code } = endingOf(failure)
  if (text !== '') console.error(`assay: ${harmless(text)}`)
  // Exit immediately, even if other work is running: a supervisor waits for it.
  process.exit(code)
}
