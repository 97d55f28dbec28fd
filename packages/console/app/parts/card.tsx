/** A card with its name as its heading and accessible label. */
import type { ComponentChildren } from 'preact'

type Props = {
  readonly name: string
  /** In the heading, after the name. */
  readonly beside?: ComponentChildren
  readonly children: ComponentChildren
}

export const Card = ({ name, beside, children }: Props) => (
  <section class="card" aria-label={name}>
    <h2>
      {name} {beside}
    </h2>
    {children}
  </section>
)

type WideProps = Props & { readonly tools?: ComponentChildren }

/** For a table from edge to edge, with its actions above it. */
export const WideCard = ({ name, beside, tools, children }: WideProps) => (
  <section class="card flush" aria-label={name}>
    <header class="tools">
      <h2>
        {name} {beside}
      </h2>
      {tools}
    </header>
    {children}
  </section>
)
