/** A card by its name, which is its heading and what readers of the screen know it by. */
import type { ComponentChildren } from 'preact'

type Props = {
  readonly name: string
  /** In the heading, behind the name. */
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

/** For a table from edge to edge, with what can be done about it above. */
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
