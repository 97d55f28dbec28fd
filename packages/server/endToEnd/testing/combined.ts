/**
 * Two sizes of a combination of faults: a short one, and what `npm run torture` goes through. Those named `*.torture.ts`
 * take too long for every test run even so, and are found only where ASSAY_COMBINED is set.
 */

export const IS_LONG = process.env['ASSAY_COMBINED'] === 'long'

export const sized = <Size>(short: Size, long: Size): Size => (IS_LONG ? long : short)
