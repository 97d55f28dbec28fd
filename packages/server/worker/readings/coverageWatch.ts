/**
 * Feeds the engine the depth of routing assets in other markets: once at start, and again whenever a source file
 * changes. If a file cannot be read, its last content remains valid until it is too old.
 */
import { type Input, ms, type State } from '@assay/engine'
import type { Clock } from '../../ops/clock.ts'
import type { CoverageAsset, CoverageSource } from '../../config/config.ts'
import { readCoverageFile } from '../../config/coverageFile.ts'
import type { Log } from '../../ops/log.ts'

export type CoverageWatchOptions = {
  readonly sources: readonly CoverageSource[]
  readonly state: State
  /** Call only inside the lane. */
  readonly apply: (input: Input) => Promise<unknown>
  readonly inLane: (task: () => Promise<void>) => Promise<void>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly log: Log
  readonly lookMs?: number
}

const LOOK_MS = 60_000

export class CoverageWatch {
  readonly #options: CoverageWatchOptions
  /** For each file, its last valid content and its current fault. */
  readonly #files = new Map<string, { assets: readonly CoverageAsset[]; fault: string | null }>()
  #isLooking = false

  constructor(options: CoverageWatchOptions) {
    this.#options = options
  }

  /** Call only inside the lane. */
  async start(): Promise<void> {
    await this.#tell(await this.#read())
    const { sources, signal, lookMs = LOOK_MS } = this.#options
    if (sources.every(({ kind }) => kind !== 'file')) return
    const timer = setInterval(() => void this.#look(), lookMs)
    timer.unref()
    signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  /** One check at a time: two that overlap would both report a new fault. */
  async #look(): Promise<void> {
    const { inLane, signal, log } = this.#options
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const assets = await this.#read()
      if (!signal.aborted) await inLane(() => this.#tell(assets))
    } catch (failure) {
      // A failed step ends the chain and is reported there.
      if (!signal.aborted) log.warn('the depth of other markets was not applied', { error: String(failure) })
    } finally {
      this.#isLooking = false
    }
  }

  async #tell(assets: readonly CoverageAsset[]): Promise<void> {
    const { state, apply, clock } = this.#options
    const current = assets.map(({ tokenAddress, externalDepthUsd, asOfMs }) => ({
      token: tokenAddress,
      depthMicrousd: externalDepthUsd * 1_000_000n,
      asOfMs: ms(asOfMs),
    }))
    const isKnown =
      current.length === state.coverage.size &&
      current.every(({ token, depthMicrousd, asOfMs }) => {
        const known = state.coverage.get(token)
        return known?.depthMicrousd === depthMicrousd && known.asOfMs === asOfMs
      })
    if (!isKnown) await apply({ kind: 'coverage', assets: current, atMs: ms(clock.nowMs()) })
  }

  /** Entries of this chain, one per asset; of two files that list the same asset, the later one wins. */
  async #read(): Promise<readonly CoverageAsset[]> {
    const { sources, state } = this.#options
    const known = new Map<string, CoverageAsset>()
    for (const source of sources) {
      const assets = source.kind === 'static' ? source.assets : await this.#fileAt(source.path)
      for (const asset of assets)
        if (asset.chainId === state.setup.chainId) known.set(asset.tokenAddress, asset)
    }
    return [...known.values()]
  }

  async #fileAt(path: string): Promise<readonly CoverageAsset[]> {
    const before = this.#files.get(path)
    try {
      const assets = await readCoverageFile(path)
      this.#files.set(path, { assets, fault: null })
      return assets
    } catch (failure) {
      const fault = failure instanceof Error ? failure.message : String(failure)
      // Logged once, not every minute.
      if (before?.fault !== fault && !this.#options.signal.aborted)
        this.#options.log.warn(
          'a file of coverage.sources cannot be used; its last valid content stays in force',
          {
            chain_id: this.#options.state.setup.chainId,
            error: fault,
          },
        )
      const assets = before?.assets ?? []
      this.#files.set(path, { assets, fault })
      return assets
    }
  }
}
