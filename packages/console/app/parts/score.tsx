/** A confidence score as a number on a colour; the number is complete, the colour only helps to find it. */

/** Five bands, matching the labels of the wire. */
export const bandOf = (score: number): 0 | 1 | 2 | 3 | 4 =>
  score <= 0 ? 0 : score <= 3 ? 1 : score <= 6 ? 2 : score <= 8 ? 3 : 4

export const Score = ({ score, label }: { readonly score: number; readonly label?: string }) => (
  <span class="scored">
    <span class={`score band${bandOf(score)}`} aria-label={`score ${score} of 10`} role="img">
      {score}
    </span>
    {label !== undefined && <span class="label">{label}</span>}
  </span>
)

/** The score on its scale, with a notch for the cap that limits it. */
export function Meter({ name, score }: { readonly name: string; readonly score: number }) {
  return (
    <span class="meter" role="img" aria-label={`${name}: ${score} of 10`}>
      {Array.from({ length: 10 }, (_, at) => (
        <i key={at} class={at < score ? `band${bandOf(score)}` : ''} />
      ))}
    </span>
  )
}
