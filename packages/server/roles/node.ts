/** What every process on a shared database needs: a name of its own, and settings that other processes may change. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Settings } from '../http/settings.ts'
import { sqlitePath } from '../store/openStore.ts'

/** A change at another node is seen within this time. */
const REFRESH_MS = 2000

/** Unique, and shows a person where the process runs. */
export const nodeName = (): string => `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`

/** Throws for a database that cannot be shared between processes. */
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
