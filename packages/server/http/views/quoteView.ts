/**
 * `view=compact`: a short quote for readers such as agents. It has the state and its ids, without the components of the
 * score and the range of accepted prices; the full quote of the same record has both.
 */
import { RequestError } from '../plumbing/apiError.ts'
import type { Params } from '../plumbing/params.ts'

export type View = 'full' | 'compact'

export function viewIn(
  params: Params,
  fail: (message: string) => Error = message => new RequestError(400, message),
): View {
  const text = params.text('view') ?? 'full'
  if (text === 'full' || text === 'compact') return text
  throw fail(`view is ${JSON.stringify(text.slice(0, 40))}; expected full or compact`)
}

const IDENTITY = ['chain_id', 'token', 'source', 'state', 'presented'] as const
const SHOWN = [
  'price_usd',
  'reason',
  'last_priced',
  'confidence',
  'selected',
  'stable',
  'evaluated_at_ms',
  'as_of',
  'expires_at_ms',
  'policy_version',
] as const

type Scored = { readonly score: number; readonly label: string; readonly caps: readonly object[] }

/** From a full quote, or from a compact state with its ids. */
export function compactView(quote: object): object {
  const said = quote as Readonly<Record<string, unknown>>
  const view: Record<string, unknown> = {}
  for (const name of [...IDENTITY, ...SHOWN]) if (said[name] !== undefined) view[name] = said[name]
  const confidence = view['confidence'] as Scored | undefined
  if (confidence !== undefined) {
    const { score, label, caps } = confidence
    view['confidence'] = { score, label, caps }
  }
  return view
}

/** An ETag of its own, because the two views of a record are different texts. */
export const tagOfView = (etag: string, view: View): string =>
  view === 'full' ? etag : etag.replace(/"$/, '-c"')
