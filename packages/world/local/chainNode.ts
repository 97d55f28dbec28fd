/**
 * The anvil node of a chain and its state. It is renewed now and then: started again from its own state without the
 * old blocks, on the same port, so that neither its memory nor the time to write its state grows with its age.
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
 * The last ones before EIP-2935: from then on every block adds its parent's hash to a contract, up to 8191 of them, and a
 * node that hashes all it holds for every block is soon busy with these alone.
 */
const RULES = ['--hardfork', 'cancun']
const OP_STACK_RULES = ['--network', 'optimism', '--hardfork', 'holocene']
/** Anvil writes its state this often, so that little is lost when the machine goes. */
const STATE_EVERY_S = 10
/** States of so many blocks can be asked for: more than the deepest reorganisation. */
const STATES = 80
/** Receipts of so many blocks can be asked for: they make up most of what is written every time. */
const RECEIPTS = 300

/** A new second has begun by then. */
const SECOND_MS = 1500
const LOOK_MS = 20

export type NodeOptions = {
  readonly slotsInAnEpoch?: number
  /** How many blocks have their transactions and receipts. */
  readonly keptBlocks?: number
  /** Seconds between two writings of its state, which a node with a long past is busy with for seconds. */
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

  /** Whether its process is gone, by whomever; between two of them it is too. */
  get hasEnded(): boolean {
    return this.#anvil.current.hasEnded()
  }

  /**
   * Makes a block with the time it is now: the node's clock goes on from there. Time cannot be set to that of the last
   * block, so a new second is waited for.
   */
  async setClock(nowS: () => number): Promise<void> {
    const { timestamp } = await this.client.getBlock({ blockTag: 'latest' })
    const untilMs = performance.now() + SECOND_MS
    while (BigInt(nowS()) <= timestamp && performance.now() < untilMs) await wait(LOOK_MS)
    const now = BigInt(nowS())
    await this.client.setNextBlockTimestamp({ timestamp: now > timestamp ? now : timestamp + 1n })
    await this.client.mine({ blocks: 1 })
  }

  /** A copy of the state as last written, should the next writing be cut short; false while there is none to copy. */
  keepState(): boolean {
    return this.#file.keep()
  }

  /** Away for a moment. States of the blocks before are gone with it: only the newest can be asked for. */
  renew(): Promise<void> {
    this.#renewing = this.#startAnew()
    return this.#renewing
  }

  /** Done when the state is written. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#renewing.catch(() => undefined)
    await this.#end()
  }

  async #startAnew(): Promise<void> {
    const { port } = this.#anvil.current
    await this.#end()
    if (this.#isClosed) return
    // One that ended by itself may have been writing.
    if (!(await this.#file.recover()))
      throw new Error(`${this.#file.path} holds no whole state to go on from`)
    this.#file.trim(this.#keptBlocks)
    this.#anvil.current = await this.#start(port)
  }

  async #end(): Promise<void> {
    await this.#anvil.current.close()
    this.#file.keep()
  }
}
