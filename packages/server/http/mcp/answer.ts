/**
 * Answers one request: the methods, and what the newer revision adds to a result. No state is kept between requests, so
 * any process can answer them.
 */
import { AssayError, ForbiddenError, RateLimitedError, UnauthenticatedError } from '@assay/sdk'
import manifest from '../../package.json' with { type: 'json' }
import { misfit } from '../plumbing/body.ts'
import { CODE, isRecord, type Message, type Params, ProtocolError } from './message.ts'
import { HANDSHAKE, type Revision, SERVER_KEY, STATELESS } from './revision.ts'
import type { Asked, Tool } from './tool.ts'
import { INSTRUCTIONS, TOOLS } from './tools.ts'
import { bounded } from './untrusted.ts'

export type Door = Asked & {
  /** Charges the consumer's quota; throws when not enough is left. */
  readonly pay: (units: number) => Promise<void>
}

const SERVER = { name: 'assay', title: 'Assay', version: manifest.version } as const
const ABILITIES = { tools: {} } as const
/** The list of tools changes only with a new version of the service. */
const LISTED_FOR_MS = 3_600_000
const CACHED = { ttlMs: LISTED_FOR_MS, cacheScope: 'public' } as const

type Request = Extract<Message, { kind: 'request' }>

export async function answerOf({ method, params }: Request, revision: Revision, door: Door): Promise<object> {
  const answering = revision === 'stateless' ? statelessly : byHandshake
  return finished(await answering(method, params, door), revision)
}

/** A result with the fields that the newer revision adds. */
const finished = (result: object, revision: Revision): object =>
  revision === 'stateless' ? { ...result, resultType: 'complete', _meta: { [SERVER_KEY]: SERVER } } : result

/** A refusal as a tool result, for transports without a status code. */
export const refusedOf = (
  { code, message, retryable, retryAfterMs }: AssayError,
  revision: Revision,
): object => finished(failed({ code, message, retryable, retry_after_ms: retryAfterMs }), revision)

async function statelessly(method: string, params: Params, door: Door): Promise<object> {
  switch (method) {
    case 'server/discover':
      await door.pay(1)
      return {
        supportedVersions: [STATELESS],
        capabilities: ABILITIES,
        instructions: INSTRUCTIONS,
        ...CACHED,
      }
    case 'tools/list':
      return { ...(await listed(params, door)), ...CACHED }
    case 'tools/call':
      return called(params, door)
    default:
      throw await unknown(method, door)
  }
}

async function byHandshake(method: string, params: Params, door: Door): Promise<object> {
  switch (method) {
    case 'initialize': {
      await door.pay(1)
      const wanted = params['protocolVersion']
      const protocolVersion = HANDSHAKE.find(each => each === wanted) ?? HANDSHAKE[0]
      return { protocolVersion, capabilities: ABILITIES, serverInfo: SERVER, instructions: INSTRUCTIONS }
    }
    case 'ping':
      await door.pay(1)
      return {}
    case 'tools/list':
      return listed(params, door)
    case 'tools/call':
      return called(params, door)
    default:
      throw await unknown(method, door)
  }
}

async function unknown(method: string, door: Door): Promise<ProtocolError> {
  await door.pay(1)
  return new ProtocolError(CODE.method, `Method not found: ${JSON.stringify(bounded(method, 60))}`)
}

const LISTED = TOOLS.map(({ name, title, description, input, output }) => ({
  name,
  title,
  description,
  inputSchema: input,
  outputSchema: output,
  annotations: {
    title,
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
}))

async function listed({ cursor }: Params, door: Door): Promise<object> {
  await door.pay(1)
  if (cursor !== undefined)
    throw new ProtocolError(CODE.params, 'Invalid params: cursor is not of this list, which has one page')
  return { tools: LISTED }
}

async function called({ name, arguments: given = {} }: Params, door: Door): Promise<object> {
  const tool = TOOLS.find(each => each.name === name)
  if (tool === undefined) {
    await door.pay(1)
    throw new ProtocolError(
      CODE.params,
      `Invalid params: there is no such tool; expected ${TOOLS.map(each => each.name).join(', ')}`,
    )
  }
  const fault = isRecord(given) ? misfit(tool.input, given, 'the arguments') : 'the arguments are no object'
  if (fault !== null) {
    await door.pay(1)
    return failed({ code: 'INVALID_PARAMS', message: fault, retryable: false, retry_after_ms: null })
  }
  return run(tool, given as Params, door)
}

/** A tool's requests are charged like those of any client. */
async function run(tool: Tool, given: Params, door: Door): Promise<object> {
  try {
    if (tool.units !== undefined) await door.pay(tool.units)
    const structuredContent = await tool.run(given, door)
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
  } catch (failure) {
    if (!(failure instanceof AssayError) || isRefusal(failure)) throw failure
    const { code, message, retryable, retryAfterMs } = failure
    return failed({ code, message, retryable, retry_after_ms: retryAfterMs })
  }
}

/** Failures caused by the caller rather than the question: each transport reports them in its own way. */
export const isRefusal = (
  failure: unknown,
): failure is UnauthenticatedError | ForbiddenError | RateLimitedError =>
  failure instanceof UnauthenticatedError ||
  failure instanceof ForbiddenError ||
  failure instanceof RateLimitedError

type Failed = {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  readonly retry_after_ms: number | null
}

const MOST_OF_MESSAGE = 300

/** Readable for the agent, so that it can correct its arguments or retry later. */
function failed({ code, message, ...rest }: Failed): object {
  const error = { code, message: bounded(message, MOST_OF_MESSAGE), ...rest }
  return { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true }
}
