/** One HTTP exchange, whole: for tests of what the SDK hides. */

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed when there is a body. */
  readonly body: unknown
}

export type Asking = {
  readonly method?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export async function ask(
  url: string,
  { method = 'GET', key, headers = {}, body }: Asking = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? null : JSON.parse(text),
  }
}
