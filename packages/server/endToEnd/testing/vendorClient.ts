/**
 * Programs of other people's clients, as their users write them, in a process of their own: started with one job as
 * JSON, it prints what came of each call as JSON. CoinGecko's client takes its base address from `COINGECKO_BASE_URL`;
 * that of DefiLlama has its hosts fixed, so `fetch` is led elsewhere, which is all that is changed.
 */
import Coingecko from '@coingecko/coingecko-typescript'
import { DefiLlama } from '@defillama/api'

export type VendorJob = {
  readonly client: 'coingecko' | 'defillama'
  /** In place of DefiLlama's host, with the key to send along. */
  readonly base?: string
  readonly key?: string
  /** A path of names from the client to the method, and its arguments. */
  readonly calls: readonly { readonly method: string; readonly args: readonly unknown[] }[]
}
export type VendorOutcome =
  | { readonly value: unknown; readonly reason: string | null }
  | { readonly error: string; readonly status: number | null; readonly message: string }

type Method = (...args: readonly unknown[]) => Promise<unknown>

const job = JSON.parse(process.argv[2] ?? '') as VendorJob
let reason: string | null = null

const plainFetch = globalThis.fetch
const heard: typeof fetch = async (input, init) => {
  const answer = await plainFetch(...redirected(input, init))
  reason = answer.headers.get('x-assay-reason')
  return answer
}

function redirected(
  input: Parameters<typeof fetch>[0],
  init: Parameters<typeof fetch>[1],
): Parameters<typeof fetch> {
  if (job.base === undefined) return [input, init]
  const url = (input instanceof Request ? input.url : String(input)).replace(
    'https://coins.llama.fi',
    job.base,
  )
  return [url, { ...init, headers: { ...(init?.headers as object), authorization: `Bearer ${job.key}` } }]
}

globalThis.fetch = heard
const client: unknown = job.client === 'coingecko' ? new Coingecko({ maxRetries: 0 }) : new DefiLlama()

const outcomes: VendorOutcome[] = []
for (const { method, args } of job.calls) {
  reason = null
  const names = method.split('.')
  const last = names.pop() ?? ''
  const owner = names.reduce((at, name) => (at as Record<string, unknown>)[name], client) as Record<
    string,
    Method
  >
  try {
    outcomes.push({ value: await (owner[last] as Method)(...args), reason })
  } catch (failure) {
    const { name, message, status } = failure as Error & { status?: number }
    outcomes.push({
      error: name === 'Error' ? (failure as object).constructor.name : name,
      status: status ?? null,
      message,
    })
  }
}
process.stdout.write(JSON.stringify(outcomes))
