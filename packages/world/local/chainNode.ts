/**
 * The anvil node of a chain and its state. The node is renewed from time to time: restarted from its own state
 * without the old blocks, on the same port, so that neither its memory nor the time to write its state grows with its
 * age.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type Anvil, startAnvil } from '../anvil.ts'
import { type Client, connect } from '../client.ts'
import { StateFile } from './stateFile.ts'

/**
 * `finalized` is two epochs of this many slots below the head: 64 blocks, so that a reorganisation of that depth
 * undoes nothing final.
 */
const SLOTS = 32
const GAS_LIMIT = 60_000_000n
/**
 * The last rules before EIP-2935. Since that proposal every block adds its parent's hash to a contract, up to 8191 of
 * them, and a node that hashes its whole state for every block soon spends its time on these alone.
 */
const RULES = ['--hardfork', 'cancun']
const OP_STACK_RULES = ['--network', 'optimism', '--hardfork', 'holocene']
/** How often anvil writes its state, so that little is lost in a crash of the machine. */
const STATE_EVERY_S = 10
/** The number of blocks whose state can be queried: more than the deepest reorganisation. */
const STATES = 80
/** The number of blocks whose receipts can be queried: receipts are most of the data written each time. */
const RECEIPTS = 300

/** Long enough for a new second to begin. */
const SECOND_MS = 1500
const LOOK_MS = 20

export type NodeOptions = {
  readonly slotsInAnEpoch?: number
  /** The number of blocks that keep their transactions and receipts. */
  readonly keptBlocks?: number
  /** Seconds between two writes of its state, which take seconds for a node with a long past. */
  readonly stateEveryS?: number
  readonly isOpStack?: boolean
}

export class ChainNode {
  readonly client: Client
  readonly #anvil: { current: Anvil }
  readonly #file: StateFile
  readonly #start: (port: number) => Promise<Anvil>
  readonly #keptBlocks: number
  #renewing: Promise<void> = Promise.resolve()
  #isClosed = false

  static async open(
    chainId: number,
    genesisS: number,
    file: StateFile,
    {
      slotsInAnEpoch = SLOTS,
      keptBlocks = RECEIPTS,
      stateEveryS = STATE_EVERY_S,
      isOpStack = false,
    }: NodeOptions = {},
  ): Promise<ChainNode> {
    const start = (port: number) =>
      startAnvil({
        chainId,
        timestamp: genesisS,
        gasLimit: GAS_LIMIT,
        slotsInAnEpoch,
        port,
        flags: [
          ...(isOpStack ? OP_STACK_RULES : RULES),
          '--state',
          file.path,
          '--state-interval',
          `${stateEveryS}`,
          '--prune-history',
          `${STATES}`,
          '--transaction-block-keeper',
          `${keptBlocks}`,
        ],
      })
    return new ChainNode(await start(0), file, start, keptBlocks)
  }

  constructor(anvil: Anvil, file: StateFile, start: (port: number) => Promise<Anvil>, keptBlocks: number) {
    this.#keptBlocks = keptBlocks
    this.#anvil = { current: anvil }
    this.client = connect(anvil.url)
    this.#file = file
    this.#start = start
  }

  get url(): string {
    return this.#anvil.current.url
  }

  get wsUrl(): string {
    return this.#anvil.current.wsUrl
  }

  get pid(): number {
    return this.#anvil.current.pid
  }

  /** Whether its process is gone, for whatever reason; also true between two processes. */
  get hasEnded(): boolean {
    return this.#anvil.current.hasEnded()
  }

  /**
   * Mines a block with the present time, from which the node's clock continues. The time cannot equal that of the
   * last block, so this waits for a new second.
   */
  async setClock(nowS: () => number): Promise<void> {
    const { timestamp } = await this.client.getBlock({ blockTag: 'latest' })
    const untilMs = performance.now() + SECOND_MS
    while (BigInt(nowS()) <= timestamp && performance.now() < untilMs) await wait(LOOK_MS)
    const now = BigInt(nowS())
    await this.client.setNextBlockTimestamp({ timestamp: now > timestamp ? now : timestamp + 1n })
    await this.client.mine({ blocks: 1 })
  }

  /** Copies the last written state, in case the next write is interrupted; false while there is none to copy. */
  keepState(): boolean {
    return this.#file.keep()
  }

  /** The node is away for a moment. The states of earlier blocks are lost: only the newest can be queried. */
  renew(): Promise<void> {
    this.#renewing = this.#startAnew()
    return this.#renewing
  }

  /** Resolves when the state is written. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#renewing.catch(() => undefined)
    await this.#end()
  }

  async #startAnew(): Promise<void> {
    const { port } = this.#anvil.current
    await this.#end()
    if (this.#isClosed) return
    // A node that ended on its own may have been writing.
    if (!(await this.#file.recover()))
      throw new Error(`${this.#file.path} has no complete state to resume from`)
    this.#file.trim(this.#keptBlocks)
    this.#anvil.current = await this.#start(port)
  }

  async #end(): Promise<void> {
    await this.#anvil.current.close()
    this.#file.keep()
  }
}
