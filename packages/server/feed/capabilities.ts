/**
 * What can be recomputed of a chain's blocks (chain-facts, traps 7 to 9). Chains that are not listed are like Ethereum,
 * as every local chain is.
 */
export type Capabilities = {
  /** Whether the hash of a header is that of Ethereum's own fields in Ethereum's own order. */
  readonly isHeaderStandard: boolean
  /** Whether bloom and receipts root of a header are those of its own block. */
  readonly isRootOwn: boolean
}

const ETHEREUM: Capabilities = { isHeaderStandard: true, isRootOwn: true }

/**
 * 43114 hashes fields of its own, and since 2026-09-22 the bloom and the root of a header cover settled ancestors. There a
 * difference proves nothing, and only a second endpoint can tell that no log is missing.
 */
const OTHERS: ReadonlyMap<number, Capabilities> = new Map([
  [43_114, { isHeaderStandard: false, isRootOwn: false }],
])

export const capabilitiesOf = (chainId: number): Capabilities => OTHERS.get(chainId) ?? ETHEREUM
