/**
 * The order in which processes are replaced: API nodes first and writers last, as in OPERATIONS, then back, with
 * kills instead of orderly stops, forward again, and back to the old version alone. Each change of the writer is
 * followed by a reorganisation of blocks that the previous one wrote.
 */
import { type Asker, askAll, operate } from './questions.ts'
import type { Fleet, Member } from './fleet.ts'
import type { Rehearsal, Row } from './rehearsal.ts'

const REORGANISED = 3

export type Cast = {
  readonly fleet: Fleet
  readonly rehearsal: Rehearsal
  readonly asker: Asker
  /** Of the old version, the only one at the start. */
  readonly writer: Member
  readonly nodes: readonly Member[]
  readonly onRow: (row: Row) => void
}

export async function roll({ fleet, rehearsal, asker, writer, nodes, onRow }: Cast): Promise<void> {
  const stage = async (name: string, act: () => Promise<void>): Promise<void> =>
    onRow(
      await rehearsal.stage(name, async () => {
        await act()
        await askWriter(fleet, asker)
      }),
    )
  const changeWriter = async (next: Member, leave: () => Promise<void>): Promise<void> => {
    await rehearsal.changeWriter(async () => {
      await leave()
      await fleet.untilWriter(next)
    })
    await rehearsal.reorganise(REORGANISED)
  }
  let [oldWriter, newWriter] = [writer, writer]
  const oldNodes = [...nodes]
  const newNodes: Member[] = []

  await stage('a new API node beside the old ones', async () => {
    newNodes.push(await fleet.start('new', 'api'))
  })
  await stage('a new writer stands by', async () => {
    newWriter = await fleet.start('new', 'chain')
    if ((await fleet.writer()) !== oldWriter) throw new Error('a standby took the lease of a living writer')
  })
  await stage('the old writer is stopped', () => changeWriter(newWriter, () => fleet.stop(oldWriter)))
  await stage('the old API nodes are stopped', async () => {
    newNodes.push(await fleet.start('new', 'api'))
    for (const node of oldNodes.splice(0)) await fleet.stop(node)
  })
  await stage('back: an old API node beside the new ones', async () => {
    oldNodes.push(await fleet.start('old', 'api'))
  })
  await stage('the new writer is killed, an old one follows', async () => {
    oldWriter = await fleet.start('old', 'chain')
    await changeWriter(oldWriter, () => fleet.kill(newWriter))
  })
  await stage('the old writer is killed, a new one follows', async () => {
    newWriter = await fleet.start('new', 'chain')
    await changeWriter(newWriter, () => fleet.kill(oldWriter))
  })
  await stage('a new API node is killed', () => fleet.kill(newNodes.shift() as Member))
  await stage('back to the old version alone', async () => {
    oldWriter = await fleet.start('old', 'chain')
    await changeWriter(oldWriter, () => fleet.stop(newWriter))
    for (const node of newNodes) await fleet.stop(node)
  })
}

/**
 * Both versions send requests if both are present; the version that is not the writer's also performs operator
 * actions.
 */
async function askWriter(fleet: Fleet, asker: Asker): Promise<void> {
  const writer = await fleet.writer()
  for (const version of ['old', 'new'] as const) {
    const node = fleet.api(version)
    if (node === undefined) continue
    await askAll(asker, node)
    if (version !== writer?.version) await operate(asker, node)
  }
}
