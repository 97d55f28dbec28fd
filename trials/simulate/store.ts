/**
 * The real store on an in-memory database that outlives every simulated process, and the ways in which a process may
 * fail to use it: slow commits, lost responses, commits that are refused or requested twice, and crashes before or
 * after a commit.
 */
import { DatabaseSync } from 'node:sqlite'
import type { Random } from '../../packages/engine/testing/randomMarket.ts'
import type { BackfillStore } from '../../packages/server/store/backfill.ts'
import { checkStore } from '../../packages/server/store/check.ts'
import type { RetentionStore } from '../../packages/server/store/maintenance.ts'
import type { OperatorStore } from '../../packages/server/store/operator.ts'
import type {
  ChainStore,
  LogStore,
  Sequence,
  SnapshotStore,
  StepCommit,
} from '../../packages/server/store/port.ts'
import { backfillStore } from '../../packages/server/store/sqlite/backfillStore.ts'
import { chainStore } from '../../packages/server/store/sqlite/chainStore.ts'
import { Connection } from '../../packages/server/store/sqlite/connection.ts'
import { logStore } from '../../packages/server/store/sqlite/log.ts'
import { maintenanceStore } from '../../packages/server/store/sqlite/maintenanceStore.ts'
import { migrate } from '../../packages/server/store/sqlite/migrate.ts'
import { operatorStore } from '../../packages/server/store/sqlite/operatorStore.ts'
import { schema } from '../../packages/server/store/sqlite/schema.ts'
import { snapshotStore } from '../../packages/server/store/sqlite/snapshotStore.ts'
import { StoreError } from '../../packages/server/store/storeError.ts'
import { Lane } from '../../packages/server/worker/lane.ts'
import type { Ledger } from './ledger.ts'
import type { Verdict } from './verdict.ts'
import type { VirtualTime } from './virtualTime.ts'

/** The parts of the store that a process uses. */
export type ProcessStore = ChainStore &
  LogStore &
  SnapshotStore &
  Pick<BackfillStore, 'readFoundPools'> &
  Pick<OperatorStore, 'readIdle'>

/** Per commit. A crash before or after it is the rarest fault, because each costs everyone a reconnect. */
const CHANCES = {
  late: 0.04,
  lost: 0.004,
  refused: 0.003,
  twice: 0.02,
  deathBefore: 0.0008,
  deathAfter: 0.0008,
}
const LATEST_MS = 3000
const UNREADABLE_CHANCE = 0.002

export type StoreFaults = {
  readonly onDeath: () => void
  /** After each commit that took place. */
  readonly onApplied: (commit: StepCommit) => void
  /** A bug to find: a lost response leads to the same records again. */
  readonly isRepeating: boolean
}

export class SimStore {
  readonly #time: VirtualTime
  readonly #ledger: Ledger
  readonly #verdict: Verdict
  readonly #lane = new Lane()
  readonly #real: ProcessStore & RetentionStore
  readonly counts = { commits: 0, late: 0, lost: 0, refused: 0, twice: 0, deaths: 0, unread: 0 }
  /** No more faults. */
  isCalm = false

  constructor(time: VirtualTime, ledger: Ledger, verdict: Verdict) {
    this.#time = time
    this.#ledger = ledger
    this.#verdict = verdict
    const database = new DatabaseSync(':memory:', { enableForeignKeyConstraints: true })
    migrate(database, schema, time.nowMs)
    const connection = new Connection(database)
    this.#real = {
      ...chainStore(connection),
      ...logStore(connection),
      ...snapshotStore(connection),
      ...operatorStore(connection),
      ...backfillStore(connection),
      ...maintenanceStore(connection),
    }
  }

  /** The store as seen by one process; once `isDead`, nothing answers it. */
  open(random: Random, faults: StoreFaults): { readonly store: ProcessStore; readonly die: () => void } {
    let isDead = false
    const alive = <Result>(result: Promise<Result>): Promise<Result> => {
      this.#time.touch()
      return result.then(value => (isDead ? new Promise<Result>(() => undefined) : value))
    }
    const never = () => new Promise<never>(() => undefined)
    const readable = <Result>(read: () => Promise<Result>): Promise<Result> => {
      if (isDead) return never()
      if (!random.chance(UNREADABLE_CHANCE) || this.isCalm) return alive(read())
      this.counts.unread += 1
      return Promise.reject(new StoreError('STORE_BUSY', 'the store did not answer in time'))
    }
    const real = this.#real
    const die = () => {
      if (isDead) return
      isDead = true
      faults.onDeath()
    }
    const commit = async (given: StepCommit) => {
      const is = (chance: number) => random.chance(chance) && !this.isCalm
      if (is(CHANCES.late)) {
        this.counts.late += 1
        await this.#time.pause(random.below(LATEST_MS))
      }
      if (isDead) return never()
      if (is(CHANCES.deathBefore)) {
        this.counts.deaths += 1
        die()
        return never()
      }
      if (is(CHANCES.refused)) {
        this.counts.refused += 1
        throw new StoreError('STORE_BUSY', 'the store was not to be had')
      }
      const outcome = await this.#commit(given, faults)
      if (is(CHANCES.twice)) {
        this.counts.twice += 1
        const again = await this.#commit(given, faults)
        this.#verdict.check(
          'log',
          outcome.outcome === 'conflict' || again.outcome === 'already',
          () => `step ${given.step} of chain ${given.chainId}, committed again, is ${again.outcome}`,
        )
      }
      if (is(CHANCES.deathAfter)) {
        this.counts.deaths += 1
        die()
      } else if (is(CHANCES.lost)) {
        this.counts.lost += 1
        if (faults.isRepeating)
          await real.commit({ ...given, step: given.step + 1, previousTipHash: given.tip?.hash ?? null })
        throw new StoreError('STORE_UNREACHABLE', 'the answer was lost')
      }
      return outcome
    }
    return {
      store: {
        ...real,
        readCheckpoint: chainId => (isDead ? never() : alive(real.readCheckpoint(chainId))),
        commit: given => (isDead ? never() : alive(commit(given))),
        readBounds: () => readable(() => real.readBounds()),
        readLog: (after, limit, chainId) => readable(() => real.readLog(after, limit, chainId)),
        readPools: query => readable(() => real.readPools(query)),
      },
      die,
    }
  }

  /** Removes records beyond both limits that nobody is replaying. */
  async prune(records: number, replayed: () => Sequence | null): Promise<void> {
    this.#time.touch()
    await this.#real.prune({ nowMs: this.#time.nowMs, hours: 0, records, batch: 1000, replayed })
    this.#ledger.forget((await this.#real.readBounds()).oldest)
  }

  async startEpoch(): Promise<void> {
    this.#time.touch()
    this.#ledger.beginEpoch((await this.#real.startEpoch()).head)
  }

  /** The current state is the fold of the log, checked with the operators' own check. */
  audit(): Promise<void> {
    this.#time.touch()
    return this.#lane.run(async () => {
      const reader = {
        ...this.#real,
        readIntegrity: async () => [],
        readMark: async () => null,
        close: async () => undefined,
      }
      const { faults, head } = await checkStore(reader)
      this.#verdict.check(
        'store',
        faults.length === 0,
        () => `the store does not hold together: ${faults[0]}`,
      )
      this.#verdict.check(
        'store',
        head === this.#ledger.head,
        () => `the store ends at ${head}, the ledger at ${this.#ledger.head}`,
      )
    })
  }

  /** One commit at a time, so that the growth of the log is known to be its own. */
  #commit(given: StepCommit, faults: StoreFaults): Promise<Awaited<ReturnType<ChainStore['commit']>>> {
    return this.#lane.run(async () => {
      const outcome = await this.#real.commit(given)
      if (outcome.outcome !== 'conflict') {
        this.counts.commits += 1
        await this.#ledger.take(this.#real, given, outcome)
        if (outcome.outcome === 'committed') faults.onApplied(given)
      }
      return outcome
    })
  }
}
