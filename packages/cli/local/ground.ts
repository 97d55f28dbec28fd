/** The requirements of a start: a writable folder and a free port, or a sentence that names the missing one. */
import { accessSync, constants, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { Failure } from '../exit.ts'

export function refuseUnwritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (failure) {
    const { code } = failure as NodeJS.ErrnoException
    throw new Failure(
      `cannot write to ${folder} (${code}): choose another folder with --data, or change its owner`,
    )
  }
}

export function refuseTakenPort(host: string, port: number): Promise<void> {
  if (port === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(
        new Failure(
          code === 'EACCES'
            ? `port ${port} of ${host} needs a privilege: choose one above 1023 with --port`
            : `port ${port} of ${host} is in use: choose another with --port, or stop what listens there`,
        ),
      ),
    )
    server.listen(port, host, () => server.close(() => resolve()))
  })
}
