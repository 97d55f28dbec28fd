/** Caps in force, the tightest first: what would have to change for a better score. */
import { words } from '../format.ts'
import { CAP_WORDS } from './capWords.ts'

type Cap = { readonly code: string; readonly cap: number }

/** A later service may send a code that has no text here. */
const WORDS: Readonly<Record<string, string>> = CAP_WORDS

type Props = { readonly caps: readonly Cap[]; readonly score: number }

export function Caps({ caps, score }: Props) {
  if (caps.length === 0) return <p class="muted">No cap is in force.</p>
  return (
    <ul class="caps">
      {[...caps]
        .sort((a, b) => a.cap - b.cap || a.code.localeCompare(b.code))
        .map(({ code, cap }) => (
          <li key={code} class={cap <= score ? 'binding' : ''}>
            <span class="cap">at most {cap}</span>
            <strong>{words(code)}</strong>
            <span class="muted">{WORDS[code] ?? ''}</span>
            {cap <= score && <span class="tag warn">limits the score</span>}
          </li>
        ))}
    </ul>
  )
}
