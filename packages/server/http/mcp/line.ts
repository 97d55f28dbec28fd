/** The protocol over stdio: one line in, one line or none out. Each message states its own revision. */
import { answerOf, type Door, isRefusal, refusedOf } from './answer.ts'
import { CODE, errorText, idOf, messageIn, ProtocolError, resultText } from './message.ts'
import { type Revision, revisionOf } from './revision.ts'

/** Null for a message without an answer. Never throws: a client on a pipe has no other way to learn of a failure. */
export async function answerToLine(line: string, door: Door): Promise<string | null> {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return errorText(null, new ProtocolError(CODE.parse, 'Parse error: the line is no JSON'))
  }
  let revision: Revision = 'handshake'
  try {
    const message = messageIn(parsed)
    if (message.kind !== 'request') return null
    revision = revisionOf(message)
    return resultText(message.id, await answerOf(message, revision, door))
  } catch (failure) {
    const id = idOf(parsed)
    if (failure instanceof ProtocolError) return errorText(id, failure)
    if (isRefusal(failure) && id !== null) return resultText(id, refusedOf(failure, revision))
    return errorText(id, new ProtocolError(CODE.internal, 'Internal error: the tool failed'))
  }
}
