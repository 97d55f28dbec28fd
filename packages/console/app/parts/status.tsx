/** A chain's health in one word with its colour, and the reasons if there are any. */
import type { Health } from '@assay/sdk'
import { words } from '../format.ts'

export function HealthTag({ health }: { readonly health: Health | null }) {
  if (health === null) return <span class="tag busy">Starting</span>
  const kind = health.status === 'HEALTHY' ? 'ok' : health.status === 'DEGRADED' ? 'warn' : 'bad'
  return <span class={`tag ${kind}`}>{words(health.status)}</span>
}
