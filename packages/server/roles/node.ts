/** What every process of a shared database has: a name of its own, and settings that may change elsewhere. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Settings } from '../http/settings.ts'
import { sqlitePath } from '../store/openStore.ts'

/** A change at another node is seen within this time. */
const REFRESH_MS = 2000

/** No two processes have the same, and a person can tell where it runs. */
export const nodeName = (): string => `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`

/** Throws for a database that only one process can have. */
export function assertShareable(address: string, role: string): void {
  if (sqlitePath(address) !== null)
    throw new Error(
      `--role ${role} needs a store that processes can share, but this one is SQLite: set store to postgres://…, and move the data with \`assay db move\``,
    )
}

export function followSettings(settings: Settings, onChange: () => void): { close(): void } {
  const timer = setInterval(() => {
    const { version } = settings.policy
    settings
      .refresh()
      .then(() => {
        if (settings.policy.version !== version) onChange()
      })
      .catch(() => undefined)
  }, REFRESH_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
