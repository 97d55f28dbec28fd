/** The protocol over stdio: a line in, a line out or none. Which revision it is of, each message says by itself. */
import { answerOf, type Door, failed, isRefusal } from './answer.ts'
import { CODE, errorText, idOf, messageIn, ProtocolError, resultText } from './message.ts'
import { revisionOf } from './revision.ts'

/** Null for what has no answer. Never throws: who talks over a pipe has nobody else to ask. */
export async function answerToLine(line: string, door: Door): Promise<string | null> {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return errorText(null, new ProtocolError(CODE.parse, 'Parse error: the line is no JSON'))
  }
  try {
    const message = messageIn(parsed)
    if (message.kind !== 'request') return null
    return resultText(message.id, await answerOf(message, revisionOf(message), door))
  } catch (failure) {
    const id = idOf(parsed)
    if (failure instanceof ProtocolError) return errorText(id, failure)
    if (isRefusal(failure) && id !== null) {
      const { code, message, retryable, retryAfterMs } = failure
      return resultText(id, failed({ code, message, retryable, retry_after_ms: retryAfterMs }))
    }
    return errorText(id, new ProtocolError(CODE.internal, 'Internal error: the tool failed'))
  }
}
