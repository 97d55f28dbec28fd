/** Panels for sellers, whose data the service computes only for this page: a separate file of the bundle. */
import type { Live } from '../live.ts'
import { CostPanel } from './costPanel.tsx'
import { ExitPanel } from './exitPanel.tsx'

type Props = { readonly live: Live; readonly chainId: number; readonly address: string }

export const Seller = (props: Props) => (
  <div class="columns">
    <ExitPanel {...props} />
    <CostPanel {...props} />
  </div>
)
