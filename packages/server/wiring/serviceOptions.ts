/** The options of a service, and the handle its starter gets. */
import type { Access } from '../access/access.ts'
import type { WorldDoor } from '../http/worldDoor.ts'
import type { Clock } from '../ops/clock.ts'
import type { Config } from '../ops/config.ts'
import type { Log, LogLevel } from '../ops/log.ts'

export type Service = {
  readonly url: string
  /** Where answers in other services' shapes stand at the root; null for nowhere. */
  readonly compatUrl: string | null
  readonly access: Access
  /** Whether every chain runs and has health to show. */
  isReady(): boolean
  /** The last sequence the API has seen: from here on it answers with what that commit said. */
  seen(): number
  close(): Promise<void>
}

export type ServiceOptions = {
  readonly config: Config
  readonly clock?: Clock
  readonly log?: Log
  readonly logLevel?: LogLevel
  /** The bundle served at `/`; left out, none. */
  readonly consoleFolder?: string
  /** The local world its chains are of, for those who run one. */
  readonly world?: WorldDoor
}
