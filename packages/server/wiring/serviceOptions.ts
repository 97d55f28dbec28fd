/** The options of a service, and the handle that starting it returns. */
import type { Access } from '../access/access.ts'
import type { WorldControl } from '../http/worldControl.ts'
import type { Clock } from '../ops/clock.ts'
import type { Config } from '../config/config.ts'
import type { Log, LogLevel } from '../ops/log.ts'

export type Service = {
  readonly url: string
  /** URL of the server whose root answers in the shapes of other services; null without one. */
  readonly compatUrl: string | null
  readonly access: Access
  /** Whether every chain runs and has reported its health. */
  isReady(): boolean
  /** The last sequence the API has seen: its answers include that commit. */
  seen(): number
  close(): Promise<void>
}

export type ServiceOptions = {
  readonly config: Config
  readonly clock?: Clock
  readonly log?: Log
  readonly logLevel?: LogLevel
  /** The console bundle served at `/`; left out, none is served. */
  readonly consoleFolder?: string
  /** The local world behind the chains, if there is one. */
  readonly world?: WorldControl
}
