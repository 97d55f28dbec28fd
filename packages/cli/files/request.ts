/** The request of an export. Headers state its range before the first byte; the body is a stream. */
import { EXIT, Failure } from '../exit.ts'
import type { ServiceChoice } from '../options.ts'

export const FORMATS = ['csv', 'ndjson', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

export type ExportAnswer = Response & { readonly body: NonNullable<Response['body']> }

/** The service could not be reached, or did not answer with a file. */
export class ExportRefusal extends Failure {
  /** Null: it could not be reached. */
  readonly status: number | null
  readonly retryAfterMs: number | null

  constructor(message: string, exitCode: number, status: number | null, retryAfterMs: number | null = null) {
    super(message, exitCode)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

export async function requestExport(
  { url, key }: ServiceChoice,
  query: URLSearchParams,
  signal?: AbortSignal,
): Promise<ExportAnswer> {
  let answer: Response
  try {
    answer = await fetch(new URL(`v1/export?${query.toString()}`, url.endsWith('/') ? url : `${url}/`), {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      redirect: 'error',
      ...(signal === undefined ? {} : { signal }),
    })
  } catch {
    throw new ExportRefusal(
      'the service could not be reached; `npm start` starts one, --url selects another',
      EXIT.refused,
      null,
    )
  }
  if (answer.ok && answer.body !== null) return answer as ExportAnswer
  const said = (await answer.text()).slice(0, 500)
  const words = said.startsWith('{"error":"') ? (JSON.parse(said) as { error: string }).error : said
  const afterS = Number(answer.headers.get('retry-after') ?? Number.NaN)
  throw new ExportRefusal(
    words === '' ? `the service refused (status ${answer.status})` : words,
    [401, 403, 429].includes(answer.status) ? EXIT.refused : EXIT.misused,
    answer.status,
    Number.isFinite(afterS) ? afterS * 1000 : null,
  )
}

/** A header of the answer that is a number. */
export const numberIn = ({ headers }: Response, name: string): number => Number(headers.get(`assay-${name}`))
