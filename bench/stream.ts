/**
 * The stream against a bare `node:net` server that writes the same bytes to the same number of sockets, and a replay
 * against reading the same records. Each serves from a separate thread and the readers are another process, so the
 * measurement is the processor time of the server and not of its clients.
 *
 * Ours is the whole path from the committed record on: the hub reads it, every subscriber filters it, every socket is
 * written. Frames are not compressed: the contract has permessage-deflate off.
 */
import type { Benchmark, Contender } from './benchmark.ts'
import { median } from './harness.ts'
import { Readers, Server } from './streamHosts.ts'
import type { ServerData } from './streamServer.ts'

/** A busy block, and the capacity of a write. */
const BLOCK = 40
const REPLAYED = 100_000
const PER_COMMIT = 1000
/** Records in a turn: shorter than the seconds for which a service lets a client not read. */
const TURN = 40
const [HEALTHY, DEAF] = [500, 200]

export const benchmarks: readonly Benchmark[] = [
  fanOut({ sockets: 1000, records: 1, ratio: 0.9, calls: 40 }),
  fanOut({ sockets: 5000, records: 1, ratio: 0.8, calls: 10 }),
  fanOut({ sockets: 1000, records: BLOCK, ratio: 5, calls: 2 }),
  fanOut({ sockets: 5000, records: BLOCK, ratio: 5, calls: 1 }),
  besideDeaf(),
  replay(),
]

type FanOut = {
  readonly sockets: number
  readonly records: number
  readonly ratio: number
  readonly calls: number
}

function fanOut({ sockets, records, ratio, calls }: FanOut): Benchmark {
  const readers = new Readers()
  const servers = new Map<Side, Server>()
  const contender = (side: Side, name: string): Contender & { readonly wallMs: number[] } => {
    const wallMs: number[] = []
    let tookNs = 0
    return {
      name,
      wallMs,
      operations: sockets * records,
      calls,
      measuredNs: () => tookNs,
      async run() {
        const server = servers.get(side) as Server
        const bytes = await server.ask({ ask: 'prepare', records })
        const startMs = performance.now()
        await server.ask({ ask: 'send' })
        await readers.tell({ tell: 'expect', port: server.ready.port, bytes: bytes * sockets })
        wallMs.push(performance.now() - startMs)
        tookNs = (await server.ask({ ask: 'used' })) * 1000
      },
    }
  }
  const ours = contender('ours', 'the stream')
  const peer = contender('bare', records === 1 ? 'node:net' : 'node:net, a write each')
  const count = sockets.toLocaleString('en')
  return {
    name:
      records === 1
        ? `stream: fan-out of a record to ${count} sockets`
        : `stream: fan-out of a block of ${records} records to ${count} sockets, in one write each`,
    unit: 'record and socket',
    goal: { ratio, sense: 'at least' },
    ours,
    peer,
    async prepare() {
      servers.set('ours', await Server.start({ side: 'ours' }))
      servers.set('bare', await Server.start({ side: 'bare' }))
      for (const { ready } of servers.values())
        await readers.tell({ tell: 'open', ...ready, sockets, cursor: null })
      for (const side of [ours, peer]) for (let warm = 0; warm < Math.max(3, calls); warm++) await side.run()
    },
    check() {
      // Both sides wait for every byte: a missing one would have been a hang.
      for (const side of [ours, peer]) side.wallMs.length = 0
    },
    close: () => closeAll(servers, readers),
    notes: () => [
      `by processor time of the serving thread; until the last byte arrived ${median(ours.wallMs).toFixed(1)} ms, bare ${median(peer.wallMs).toFixed(1)} ms`,
    ],
  }
}

function besideDeaf(): Benchmark {
  const readers = new Readers()
  const servers = new Map<Side, Server>()
  /** Nanoseconds until every reader had each of these records, one after the other. */
  const deliver = async (): Promise<number> => {
    const server = servers.get('ours') as Server
    let tookMs = 0
    for (let n = 0; n < TURN; n++) {
      const bytes = await server.ask({ ask: 'prepare', records: 1 })
      const startMs = performance.now()
      await server.ask({ ask: 'send' })
      await readers.tell({ tell: 'expect', port: server.ready.port, bytes: bytes * HEALTHY })
      tookMs += performance.now() - startMs
    }
    return tookMs * 1e6
  }
  const contender = (name: string, isBeside: boolean): Contender => {
    let tookNs = 0
    return {
      name,
      operations: TURN,
      calls: 1,
      measuredNs: () => tookNs,
      async run() {
        const server = servers.get('ours') as Server
        if (isBeside) {
          await readers.tell({ tell: 'open', ...server.ready, sockets: DEAF, cursor: null, isDeaf: true })
          await server.ask({ ask: 'stuff' })
        }
        tookNs = await deliver()
        if (isBeside) await readers.tell({ tell: 'leave', port: server.ready.port, isDeaf: true })
      },
    }
  }
  return {
    name: 'stream: a record to 500 sockets beside 200 that stopped reading, against without them',
    unit: 'record',
    goal: { ratio: 2, sense: 'at most' },
    ours: contender('beside 200 that stopped', true),
    peer: contender('without them', false),
    rounds: 5,
    async prepare() {
      const server = await Server.start({ side: 'ours' })
      servers.set('ours', server)
      await readers.tell({ tell: 'open', ...server.ready, sockets: HEALTHY, cursor: null })
      await deliver()
    },
    close: () => closeAll(servers, readers),
    notes: () => ['by the clock, from the commit to the last byte at the last of the 500'],
  }
}

function replay(): Benchmark {
  const readers = new Readers()
  const servers = new Map<Side, Server>()
  let bytes = 0
  let tookNs = { socket: 0, store: 0 }
  const server = (): Server => servers.get('ours') as Server
  return {
    name: 'stream: replay of 100,000 records from a cursor to a socket, against reading them',
    unit: 'record',
    goal: { ratio: 0.5, sense: 'at least' },
    ours: {
      name: 'a subscriber',
      operations: REPLAYED,
      calls: 1,
      measuredNs: () => tookNs.socket,
      async run() {
        const { ready } = server()
        await server().ask({ ask: 'mark' })
        const { port } = ready
        await readers.tell({ tell: 'open', ...ready, sockets: 1 })
        await readers.tell({ tell: 'expect', port, bytes })
        tookNs = { ...tookNs, socket: (await server().ask({ ask: 'used' })) * 1000 }
        await readers.tell({ tell: 'leave', port })
      },
    },
    peer: {
      name: 'readLog',
      operations: REPLAYED,
      calls: 1,
      measuredNs: () => tookNs.store,
      async run() {
        const seen = await server().ask({ ask: 'read' })
        if (seen !== REPLAYED) throw new Error(`read ${seen} records`)
        tookNs = { ...tookNs, store: (await server().ask({ ask: 'used' })) * 1000 }
      },
    },
    async prepare() {
      servers.set('ours', await Server.start({ side: 'ours' }))
      for (let done = 0; done < REPLAYED; done += PER_COMMIT)
        bytes += await server().ask({ ask: 'prepare', records: PER_COMMIT })
    },
    close: () => closeAll(servers, readers),
    notes: () => ['by processor time of the serving thread, of which the kernel takes what it takes to send'],
  }
}

type Side = ServerData['side']

async function closeAll(servers: ReadonlyMap<Side, Server>, readers: Readers): Promise<void> {
  await readers.close()
  for (const server of servers.values()) await server.close()
}
