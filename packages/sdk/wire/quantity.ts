/**
 * Quantities. Sequences, block numbers and times are JSON integers below 2^53; every other on-chain integer
 * is a decimal string, and money that is not a price is a whole number of microdollars.
 */
import { describe, integer, object, pattern, type Static } from './schema.ts'

/** A count, an index or a block number. */
export const Count = integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** A position in the stream: monotonic, not contiguous, global over chains. */
export const Sequence = describe(
  'Position in the stream; monotonic, not contiguous.',
  integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
)

/** Unix time or a duration, in milliseconds. */
export const Ms = integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const Tick = integer({ minimum: -887272, maximum: 887272 })

/** A confidence score or cap. */
export const Score = integer({ minimum: 0, maximum: 10 })

export const Decimals = integer({ minimum: 0, maximum: 36 })

/** An unsigned on-chain integer. */
export const Unsigned = pattern('^(?:0|[1-9][0-9]*)$')

/** A signed on-chain integer, such as the amounts of a v3 swap. */
export const Signed = pattern('^(?:0|-?[1-9][0-9]*)$')

export const Microusd = describe('Whole microdollars, rounded down.', pattern('^(?:0|[1-9][0-9]*)$'))

/** Plain decimal text: no exponent, no trailing zeros. */
export const PlainDecimal = pattern('^(?:0|[1-9][0-9]*)(?:\\.[0-9]*[1-9])?$')

const Positive = pattern('^[1-9][0-9]*$')

/** An exact ratio in the units of its own context, without a display form. */
export const Fraction = object({ numerator: Positive, denominator: Positive })

/** Positive and reduced, at most 4096 bits per side. */
export const ExactValue = object({
  numerator: Positive,
  denominator: Positive,
  display: describe(
    'The value rounded once to 18 significant digits, ties to even; plain decimal.',
    pattern('^(?:0\\.[0-9]*[1-9]|[1-9][0-9]*(?:\\.[0-9]*[1-9])?)$'),
  ),
})
export type ExactValue = Static<typeof ExactValue>
