/** What concerns a seller and is asked of the service only for this page: a file of its own in the bundle. */
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
