/**
 * The proof rules of a chain. Most differences between chains are detected from the fields of a header or a receipt
 * (`headerHash.ts`, `receiptsProof.ts`); only what those fields cannot show comes from the configuration.
 */
import type { ChainConfig, ProofRules } from '../../config/config.ts'

const STANDARD: ProofRules = { header: 'standard', receipts: 'standard' }

export const proofRulesOf = ({ proof }: Pick<ChainConfig, 'proof'>): ProofRules => proof ?? STANDARD
