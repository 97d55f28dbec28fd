/** A customer connected to every node of the fleet, and the faults it found. */
import type { createClient } from '@assay/sdk'
import { Nomad } from '../../packages/server/endToEnd/testing/nomad.ts'
import type { Member } from './fleet.ts'

/** A restart, a node that is behind, a process that is gone. */
const EXPECTED = [1006, 1012, 1013]

export class Listener extends Nomad<Member> {
  readonly name: string
  readonly faults: string[]

  /** `create` belongs to the SDK version it uses. */
  constructor(name: string, create: typeof createClient, apiKey: string, nodes: () => readonly Member[]) {
    const faults: string[] = []
    super({
      create,
      apiKey,
      nodes,
      urlOf: ({ child }) => child.url,
      onRefused(giver, failure) {
        if (!giver.isLeaving) faults.push(`${giver.name} gave ${name} no cursor: ${String(failure)}`)
      },
      onEnded(server, outcome) {
        const isFine = outcome.kind === 'CLOSED' && EXPECTED.includes(outcome.code) && server.isLeaving
        if (!isFine) faults.push(`the stream of ${name} at ${server.name} ended: ${JSON.stringify(outcome)}`)
      },
    })
    this.name = name
    this.faults = faults
  }
}
