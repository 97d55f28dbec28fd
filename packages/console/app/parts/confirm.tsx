/** A button for irreversible actions: the first press only asks for confirmation. */
import { useState } from 'preact/hooks'

type Props = {
  readonly word: string
  /** Accessible description when the label alone does not name the object. */
  readonly about?: string
  /** The complete label of the second button. */
  readonly sure: string
  readonly disabled?: boolean
  readonly class?: string
  readonly onSure: () => void
}

export function Confirm({ word, about, sure, disabled = false, class: kind = 'small', onSure }: Props) {
  const [isDoubted, setDoubted] = useState(false)
  if (!isDoubted)
    return (
      <button
        type="button"
        class={kind}
        aria-label={about}
        disabled={disabled}
        onClick={() => setDoubted(true)}
      >
        {word}
      </button>
    )
  return (
    <span class="confirm">
      <button
        type="button"
        class={`${kind} danger`}
        onClick={() => {
          setDoubted(false)
          onSure()
        }}
      >
        {sure}
      </button>{' '}
      <button type="button" class={`${kind} quiet`} onClick={() => setDoubted(false)}>
        Cancel
      </button>
    </span>
  )
}
