/** A choice among the chains served here. */
import { chainName } from '../format.ts'
import type { Live } from '../live.ts'

type Props = {
  readonly live: Live
  readonly about: string
  readonly chosen: number | null
  readonly onChoose: (chainId: number | null) => void
  /** The label for choosing no chain, if that is allowed. */
  readonly none?: string
}

export const ChainChoice = ({ live, about, chosen, onChoose, none }: Props) => (
  <select
    aria-label={about}
    value={chosen ?? ''}
    onChange={({ currentTarget: { value } }) => onChoose(value === '' ? null : Number(value))}
  >
    {none !== undefined && <option value="">{none}</option>}
    {[...live.chains.values()].map(({ chain }) => (
      <option key={chain.chain_id} value={chain.chain_id}>
        {chainName(chain.name)}
      </option>
    ))}
  </select>
)
