/** A choice of any of a few values, with a checkbox each. */
type Props<Value extends string> = {
  readonly about: string
  readonly values: readonly Value[]
  readonly chosen: readonly Value[]
  readonly onChoose: (chosen: readonly Value[]) => void
  readonly nameOf?: (value: Value) => string
}

export const Checks = <Value extends string>({ about, values, chosen, onChoose, nameOf }: Props<Value>) => (
  <fieldset class="choices">
    <legend class="hidden">{about}</legend>
    {values.map(value => (
      <label key={value} class="check">
        <input
          type="checkbox"
          checked={chosen.includes(value)}
          onChange={() =>
            onChoose(chosen.includes(value) ? chosen.filter(each => each !== value) : [...chosen, value])
          }
        />
        {nameOf?.(value) ?? value}
      </label>
    ))}
  </fieldset>
)
