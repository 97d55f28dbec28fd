/** Real processes of two versions of the service on one database, by role and by whether they are about to end. */
import { join } from 'node:path'
import { type ChildService, startChildService } from '../../packages/server/endToEnd/testing/childService.ts'
import { until } from '../../packages/server/endToEnd/testing/until.ts'
import { execute } from '../../packages/server/store/testing/postgresServer.ts'

export type Version = 'old' | 'new'
export type Role = 'api' | 'chain'
export type Member = {
  readonly name: string
  readonly version: Version
  readonly role: Role
  readonly child: ChildService
  /** Asked to stop, or killed: from here on it may refuse clients. */
  isLeaving: boolean
}

/** Longer than a stopping service gives its clients. */
const STOP_MS = 20_000
/** Characters of a process's last output. */
const SHOWN = 500
/** The time that OPERATIONS promises for replacing a writer that died. */
const TAKE_OVER_MS = 10_000

export class Fleet {
  readonly faults: string[] = []
  readonly #configFile: string
  readonly #store: string
  readonly #folders: Readonly<Record<Version, string>>
  readonly #members = new Set<Member>()
  readonly #counts = new Map<string, number>()

  constructor(configFile: string, store: string, folders: Readonly<Record<Version, string>>) {
    this.#configFile = configFile
    this.#store = store
    this.#folders = folders
  }

  async start(version: Version, role: Role): Promise<Member> {
    const kind = `${version} ${role}`
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const options = ['--role', role, ...(role === 'api' ? ['--port', '0'] : [])]
    const child = await startChildService(this.#configFile, {}, options, this.commandOf(version))
    const member: Member = { name: `${kind} ${count}`, version, role, child, isLeaving: false }
    this.#members.add(member)
    void child.ended.then(code => {
      this.#members.delete(member)
      if (!member.isLeaving)
        this.faults.push(
          `${member.name} ended by itself, with ${String(code)}: ${child.said().slice(-SHOWN)}`,
        )
    })
    return member
  }

  commandOf(version: Version): string {
    return join(this.#folders[version], 'packages/cli/assay.ts')
  }

  /** Nodes that accept requests, including those about to end: clients get no advance notice. */
  apis(): readonly Member[] {
    return [...this.#members].filter(({ role }) => role === 'api')
  }

  /** One node of a version that is not about to end. */
  api(version: Version): Member | undefined {
    return this.apis().find(each => each.version === version && !each.isLeaving)
  }

  async stop(member: Member): Promise<void> {
    member.isLeaving = true
    const late = setTimeout(() => void member.child.kill(), STOP_MS)
    const code = await member.child.stop()
    clearTimeout(late)
    if (code !== 0) this.faults.push(`${member.name} was asked to stop and ended with ${code}`)
  }

  async kill(member: Member): Promise<void> {
    member.isLeaving = true
    await member.child.kill()
  }

  /** The present writer of the chain. */
  async writer(): Promise<Member | undefined> {
    const [lease] = (await execute(this.#store, 'SELECT owner FROM assay.seat')) as { owner: string }[]
    const pid = Number(lease?.owner.split(':')[1])
    return [...this.#members].find(({ child }) => child.pid === pid)
  }

  /** Waits until this one writes, which is soon after the other stopped. */
  async untilWriter(member: Member): Promise<void> {
    const isIt = async () => (await this.writer()) === member
    await until(`${member.name} writes the chain`, isIt, TAKE_OVER_MS)
  }

  async close(): Promise<void> {
    const members = [...this.#members]
    for (const member of members) member.isLeaving = true
    await Promise.all(members.map(({ child }) => child.kill()))
  }
}
