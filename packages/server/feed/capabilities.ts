/**
 * What can be recomputed of a chain's blocks. What the fields of a header or a receipt tell, as the order of a header or
 * whose receipts its root covers, is not set here; a chain that none of that fits says so in its configuration.
 */
import type { ChainConfig, ProofRules } from '../ops/config.ts'

export type Capabilities = ProofRules

const STANDARD: Capabilities = { header: 'standard', receipts: 'standard' }

export const capabilitiesOf = ({ proof }: Pick<ChainConfig, 'proof'>): Capabilities => proof ?? STANDARD
