/**
 * The stored form of an anchor's view: one line of words, with a bar before each route on which its price hardly
 * rests.
 */
import type { AnchorView, RouteView } from '../rules/anchorView.ts'
import type { Cap, CapCode, UnpricedReason } from '../rules/reasons.ts'
import { score } from '../units.ts'

const MINOR = ' | '

export function viewText(view: AnchorView): string {
  const main =
    'reason' in view
      ? view.reason
      : `${view.score} ${capsText(view.caps)} ${view.material.map(({ id, score }) => `${id}:${score}`).join(',')}`
  const minor = view.minor.map(({ id, score, caps }) => `${id} ${score} ${capsText(caps)}`)
  return [main, ...minor].join(MINOR)
}

export function viewFrom(text: string): AnchorView {
  const [main = '', ...rest] = text.split(MINOR)
  const minor = rest.map((each): RouteView => {
    const [id = '', value, caps = ''] = each.split(' ')
    return { id, score: score(Number(value)), caps: capsFrom(caps) }
  })
  const [value = '', caps = '', material = ''] = main.split(' ')
  // The line of a price starts with its score; without a price, the line is the reason.
  if (!/^\d/.test(value)) return { reason: value as UnpricedReason, minor }
  return {
    score: score(Number(value)),
    caps: capsFrom(caps),
    material: listed(material).map(([id, points]) => ({ id, score: score(Number(points)) })),
    minor,
  }
}

const capsText = (caps: readonly Cap[]): string => caps.map(({ code, cap }) => `${code}:${cap}`).join(',')

const capsFrom = (text: string): Cap[] =>
  listed(text).map(([code, cap]) => ({ code: code as CapCode, cap: score(Number(cap)) }))

/** `a:1,b:2` as pairs. */
const listed = (text: string): [string, string][] =>
  text === '' ? [] : text.split(',').map(each => each.split(':') as [string, string])
