/** The state of a webhook as a tag: whether messages are sent. */
import type { Webhook } from '@assay/sdk'
import { words } from '../format.ts'

const KINDS: Readonly<Record<string, string>> = { ACTIVE: 'ok', PARKED: 'bad' }

export const StateTag = ({ state }: Pick<Webhook, 'state'>) => (
  <span class={`tag ${KINDS[state] ?? 'warn'}`}>{words(state)}</span>
)
