/** One attempt to deliver one message: check the address, sign the message with the present time, await the answer. */
import type { Clock } from '../ops/clock.ts'
import type { WebhookRow } from '../store/webhooks.ts'
import { ATTEMPT_MS, post, type Posted } from './post.ts'
import type { AddressRule } from './publicAddress.ts'
import { sign } from './signature.ts'
import { type Resolve, type Target, TargetRefused, targetOf } from './target.ts'

export type Sending = {
  readonly isAllowed: AddressRule
  readonly resolve: Resolve
  readonly clock: Clock
}

type Addressee = Pick<WebhookRow, 'url' | 'secret' | 'previousSecret' | 'previousUntilMs'>

/** Never throws: every failure is an outcome of the attempt. */
export async function attempt(
  { isAllowed, resolve, clock }: Sending,
  webhook: Addressee,
  { id, body }: { readonly id: string; readonly body: string },
  stopping?: AbortSignal,
): Promise<Posted> {
  const deadline = AbortSignal.timeout(ATTEMPT_MS)
  const signal = stopping === undefined ? deadline : AbortSignal.any([deadline, stopping])
  let target: Target
  try {
    target = await endedBy(signal, targetOf(webhook.url, isAllowed, resolve))
  } catch (failure) {
    return {
      status: null,
      error: failure instanceof TargetRefused ? failure.message : lookUpFailure(failure),
    }
  }
  const nowMs = clock.nowMs()
  const headers = { ...sign(secretsOf(webhook, nowMs), id, nowMs, body) }
  return post(target, { headers, body }, signal)
}

const secretsOf = ({ secret, previousSecret, previousUntilMs }: Addressee, nowMs: number) =>
  previousSecret !== null && previousUntilMs !== null && nowMs < previousUntilMs
    ? [secret, previousSecret]
    : [secret]

const lookUpFailure = (failure: unknown): string => {
  const { code } = failure as NodeJS.ErrnoException
  return code === undefined
    ? 'its host name was not resolved in time'
    : `its host name cannot be resolved (${code})`
}

/** A look-up cannot be cancelled; after the abort its result is ignored. */
function endedBy<Result>(signal: AbortSignal, task: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error('not in time'))
    if (signal.aborted) return end()
    signal.addEventListener('abort', end, { once: true })
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}
