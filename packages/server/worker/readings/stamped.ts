/** A computed answer, and every quote inside it, with the sequence of the commit it was computed from. */
import type { Sequence } from '../../store/port.ts'

type Stampable = { readonly as_of: object; readonly routing_assets?: readonly Stampable[] }

export const stampedText = (answer: object, sequence: Sequence): string =>
  JSON.stringify(stamped(answer as Stampable, sequence))

function stamped(quote: Stampable, sequence: Sequence): object {
  const { routing_assets, ...rest } = quote
  return {
    ...rest,
    ...(routing_assets === undefined
      ? {}
      : { routing_assets: routing_assets.map(each => stamped(each, sequence)) }),
    as_of: { stream_sequence: sequence, ...quote.as_of },
  }
}
