/**
 * Whether the token can be sold, according to our own simulation: the verdict, the taxes, what reverted and where,
 * and when.
 */
import { fromId, type Sellability } from '@assay/sdk'
import { useNow } from '../answer.ts'
import { count, duration, shortAddress, shortHash, words } from '../format.ts'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Facts } from '../parts/facts.tsx'
import { hrefOf } from '../place.ts'
import { failedStep, METHOD_WORDS, sellVerdict, taxText } from './sellWords.ts'

type Props = {
  readonly chainId: number
  /** Null for a stable or a routing asset; absent from records older than the probe. */
  readonly found: Sellability | null | undefined
}

const KINDS: Readonly<Record<string, string>> = { SELLABLE: 'ok', TAXED: 'warn', UNSELLABLE: 'bad' }

export function SellPanel({ chainId, found }: Props) {
  if (found === null || found === undefined)
    return (
      <Card name="Sellability">
        <p class="muted">
          {found === null
            ? 'Not probed: it is a stable or a routing asset, which other tokens are sold into.'
            : 'Not known, because this price was published before sales were simulated.'}
        </p>
      </Card>
    )
  const { status } = found
  return (
    <Card name="Sellability" beside={<span class={`tag ${KINDS[status] ?? 'warn'}`}>{words(status)}</span>}>
      <p>{sellVerdict(found)}</p>
      <Probe chainId={chainId} found={found} />
      <p class="small muted">
        A simulation by this service on your nodes. It is valid for that block and cannot predict what an
        owner changes later.
      </p>
    </Card>
  )
}

function Probe({ chainId, found }: { readonly chainId: number; readonly found: Sellability }) {
  const now = useNow()
  const { buy_tax_bps, transfer_tax_bps, sell_tax_bps, pool_id, block_number, block_hash, revert } = found
  const step = failedStep(found)
  const pool = pool_id === null ? null : fromId(pool_id)
  return (
    <Facts
      facts={[
        ['Purchase tax', taxText(buy_tax_bps)],
        ['Transfer tax', taxText(transfer_tax_bps)],
        ['Sale tax', taxText(sell_tax_bps)],
        step === null && revert === null
          ? null
          : [
              'Reverted',
              <span key="revert">
                {step ?? 'A step'}
                {revert === null ? ', without words' : ': '}
                {/* The token's own text: it must not change the direction of the line. */}
                {revert !== null && <bdi class="wrap code">{revert}</bdi>}
              </span>,
            ],
        pool === null
          ? null
          : [
              'Traded in',
              <a key="pool" href={hrefOf.pool(chainId, pool)}>
                pool {shortAddress(pool)}
              </a>,
            ],
        found.method === null ? null : ['Simulated', METHOD_WORDS[found.method] ?? words(found.method)],
        block_number === null || block_hash === null
          ? null
          : [
              'At block',
              <span key="block">
                {count(block_number)}{' '}
                <Copyable text={block_hash} shown={shortHash(block_hash)} what="hash of the probed block" />
              </span>,
            ],
        found.checked_at_ms === null
          ? null
          : [
              'Found',
              `${duration(now - found.checked_at_ms)} ago; later probes with the same result are not published`,
            ],
      ]}
    />
  )
}
