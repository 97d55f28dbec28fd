/** Resolves at the first Ctrl-C or SIGTERM; a second one ends the process at once. */
export function untilStopped(): Promise<void> {
  return new Promise(resolve => {
    let isStopping = false
    const stop = () => {
      if (isStopping) process.exit(130)
      isStopping = true
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
