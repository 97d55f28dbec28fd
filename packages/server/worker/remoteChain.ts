/**
 * A chain that runs elsewhere: each call becomes a message with the method's name and its arguments, over any
 * transport.
 */
import type { Policy } from '@assay/engine'
import type { ChainService, Narrowing, SaleSizes } from './chainService.ts'
import type { Method } from './messages.ts'

export abstract class RemoteChain implements ChainService {
  readonly chainId: number

  constructor(chainId: number) {
    this.chainId = chainId
  }

  /** Rejects with `ChainDown` when the chain does not run anywhere. */
  protected abstract ask(method: Method, args: readonly unknown[]): Promise<unknown>

  progress(token: string) {
    return this.ask('progress', [token]) as ReturnType<ChainService['progress']>
  }

  enrol(token: string, consumer = '') {
    return this.ask('enrol', [token, consumer]) as ReturnType<ChainService['enrol']>
  }

  tokenQuote(token: string, narrowing: Narrowing | null, isVerifiedAnew: boolean, consumer = '') {
    return this.ask('tokenQuote', [token, narrowing, isVerifiedAnew, consumer]) as ReturnType<
      ChainService['tokenQuote']
    >
  }

  exit(token: string, sizes: SaleSizes) {
    return this.ask('exit', [token, sizes]) as ReturnType<ChainService['exit']>
  }

  cost(token: string, deadlineMs: number) {
    return this.ask('cost', [token, deadlineMs]) as ReturnType<ChainService['cost']>
  }

  unenrol(token: string) {
    return this.ask('unenrol', [token]) as ReturnType<ChainService['unenrol']>
  }

  confirmDecimals(token: string, decimals: number) {
    return this.ask('confirmDecimals', [token, decimals]) as ReturnType<ChainService['confirmDecimals']>
  }

  setPaused(isPaused: boolean) {
    return this.ask('setPaused', [isPaused]) as ReturnType<ChainService['setPaused']>
  }

  setPolicy(policy: Policy) {
    return this.ask('setPolicy', [policy]) as ReturnType<ChainService['setPolicy']>
  }

  tryPolicy(policy: Policy) {
    return this.ask('tryPolicy', [policy]) as ReturnType<ChainService['tryPolicy']>
  }

  poolQuote(pool: string, deadlineMs: number, maxAgeMs: number | null = null, consumer = '') {
    return this.ask('poolQuote', [pool, deadlineMs, maxAgeMs, consumer]) as ReturnType<
      ChainService['poolQuote']
    >
  }
}
