/** The text of an answer to one call or to a batch, and how it is delivered. */
import type { Outcome } from './exchange.ts'
import type { RpcCall } from './rule.ts'

/** Entries keep the order of their calls. */
export function answerText(
  calls: readonly RpcCall[],
  outcomes: readonly Outcome[],
  isBatch: boolean,
): string {
  const answers = calls.map(({ id }, at) => JSON.stringify({ jsonrpc: '2.0', id, ...outcomes[at]?.answer }))
  return isBatch ? `[${answers.join()}]` : (answers[0] ?? '')
}

/** A batch is delivered one way: the first delivery of its entries that is not plain. */
export function deliveryOf(outcomes: readonly Outcome[]): Outcome['delivery'] {
  if (outcomes.some(({ delivery }) => delivery === 'handled')) return 'handled'
  return outcomes.find(({ delivery }) => delivery !== null)?.delivery ?? null
}
