/** A request and its answer as texts: one call, or a batch of them. */
import type { Outcome } from './exchange.ts'
import type { RpcCall } from './rule.ts'

/** Entries stand in the order of their calls. */
export function answerText(
  calls: readonly RpcCall[],
  outcomes: readonly Outcome[],
  isBatch: boolean,
): string {
  const answers = calls.map(({ id }, at) => JSON.stringify({ jsonrpc: '2.0', id, ...outcomes[at]?.answer }))
  return isBatch ? `[${answers.join()}]` : (answers[0] ?? '')
}

/** A batch arrives by one way: the first that is not the plain one. */
export function deliveryOf(outcomes: readonly Outcome[]): Outcome['delivery'] {
  if (outcomes.some(({ delivery }) => delivery === 'handled')) return 'handled'
  return outcomes.find(({ delivery }) => delivery !== null)?.delivery ?? null
}
