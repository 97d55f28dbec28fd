/** Names with their values, one pair per line. */
import type { ComponentChildren } from 'preact'

type Fact = readonly [name: string, value: ComponentChildren]

export const Facts = ({ facts }: { readonly facts: readonly (Fact | null)[] }) => (
  <dl class="facts">
    {facts
      .filter(fact => fact !== null)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
