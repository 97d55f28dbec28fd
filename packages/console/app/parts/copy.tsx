/** Long exact text, shortened for display, with a button that copies all of it. */
import { useState } from 'preact/hooks'

type Props = { readonly text: string; readonly shown?: string; readonly what: string }

export function Copyable({ text, shown = text, what }: Props) {
  const [said, setSaid] = useState('')
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Not copied: the browser did not allow it'),
    )
    setTimeout(() => setSaid(''), 2000)
  }
  return (
    <span class="copyable">
      <code title={text}>{shown}</code>
      <button type="button" class="quiet small" aria-label={`Copy ${what}`} onClick={copy}>
        {said === 'Copied' ? 'Copied' : 'Copy'}
      </button>
      <span class="hidden" role="status">
        {said}
      </span>
    </span>
  )
}
