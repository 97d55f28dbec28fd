import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askControl, readPositions } from '@assay/server/config'
import type { LocalWorld } from '@assay/world'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHAIN_ID } from '../../server/endToEnd/testing/plan.ts'
import { type Hex, startTestChain, type TestChain } from '../../server/endToEnd/testing/testChain.ts'
import { startTestService } from '../../server/endToEnd/testing/testService.ts'
import { listenForIncidents, refuseSecond } from './worldControl.ts'
import { matchLog } from './worldLog.ts'

let chain: TestChain
let world: LocalWorld
let database: string
let snapshot: Hex
beforeAll(async () => {
  chain = await startTestChain()
  world = { chains: [chain.world], close: async () => undefined }
  database = join(chain.folder, 'assay.db')
})
afterAll(() => chain.close())

const epoch = async () => (await readPositions(database, [CHAIN_ID])).epoch

/** Served up to three blocks above the snapshot, and stopped. */
async function serve(): Promise<void> {
  const service = await startTestService(chain)
  await service.untilTip(await chain.mine())
  snapshot = await chain.snapshot()
  await service.untilTip(await chain.mine(3))
  await service.close()
}

describe('a log compared with its world', () => {
  it('is left alone when there is no log, or the world has all of its blocks', async () => {
    expect(await matchLog(database, world)).toBeNull()
    expect(existsSync(database)).toBe(false)
    await serve()
    await chain.mine(2)
    expect(await matchLog(database, world)).toBeNull()
    expect(await epoch()).toBe(0)
  })

  it('gets a new epoch when the world is behind it, and is then followed again', async () => {
    const { positions } = await readPositions(database, [CHAIN_ID])
    await chain.revert(snapshot)
    const remark = await matchLog(database, world)
    expect(remark).toContain(`chain 1 (block ${positions[0]?.tip.number}) is behind the log`)
    expect(remark).toContain('as epoch 1')
    const service = await startTestService(chain)
    await service.untilTip(await chain.mine())
    await service.close()
    expect(await epoch()).toBe(1)
    expect(await matchLog(database, world)).toBeNull()
  })

  it('is moved away when the world has none of its blocks, and the next log begins above it', async () => {
    const other = await startTestChain()
    try {
      const remark = await matchLog(database, { chains: [other.world], close: async () => undefined })
      expect(remark).toContain('no longer has the blocks of the log')
      expect(remark).toContain('epoch 2')
      expect(await readPositions(database, [CHAIN_ID])).toEqual({ epoch: 2, positions: [] })
      const aside = readdirSync(chain.folder).filter(name => name.startsWith('before-'))
      expect(aside).toHaveLength(1)
      expect(readdirSync(join(chain.folder, aside[0] as string))).toContain('assay.db')
    } finally {
      await other.close()
    }
  })
})

describe('the control socket of a world', () => {
  it('accepts incidents, says what is wrong with a bad one, and refuses a second world', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-control-'))
    try {
      await refuseSecond(folder)
      const control = await listenForIncidents(world, folder)
      const ask = (request: object) => askControl(join(folder, 'world'), request)
      expect(await ask({ command: 'incident', wish: { name: 'flash', token: 'LARK' } })).toMatchObject({
        incident: 'flash',
        chainId: CHAIN_ID,
        token: 'LARK',
      })
      await expect(ask({ command: 'incident', wish: { name: 'nope' } })).rejects.toThrow(
        'there is no incident "nope"',
      )
      await expect(ask({ command: 'dance' })).rejects.toThrow('does not know the command "dance"')
      await expect(refuseSecond(folder)).rejects.toThrow('a world already runs in')
      await control.close()
      await refuseSecond(folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
