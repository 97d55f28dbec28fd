/** A component that is rendered again only when one of its properties changes. */
import { Component, type ComponentChildren } from 'preact'

export function memo<Props extends object>(draw: (props: Props) => ComponentChildren) {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const held = this.props as Readonly<Record<string, unknown>>
      return Object.entries(next).some(([name, value]) => held[name] !== value)
    }

    override render(): ComponentChildren {
      return draw(this.props)
    }
  }
}
