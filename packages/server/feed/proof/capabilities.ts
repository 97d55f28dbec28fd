/**
 * The proof rules of a chain. Most differences between chains are detected from the fields of a header or a receipt
 * (`headerHash.ts`, `receiptsProof.ts`); only what those fields cannot show comes from the configuration.
 */
import type { ChainConfig, ProofRules } from '../../config/config.ts'

export type Capabilities = ProofRules

const STANDARD: Capabilities = { header: 'standard', receipts: 'standard' }

export const capabilitiesOf = ({ proof }: Pick<ChainConfig, 'proof'>): Capabilities => proof ?? STANDARD
