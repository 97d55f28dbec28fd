/** The frame of a small line without axes, with a text alternative. */
import type { ComponentChildren } from 'preact'

type Props = { readonly height: number; readonly about: string; readonly children: ComponentChildren }

export const SPARK_WIDTH = 120

export function Spark({ height, about, children }: Props) {
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${SPARK_WIDTH} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={about}
    >
      {children}
    </svg>
  )
}
