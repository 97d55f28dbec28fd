/**
 * Pools of more families than v2 and v3 are stored. A program from before cannot read their state, and so does not fit this
 * version. No table changes.
 */
export const families = `
  -- 'pool' entities may be of families that were not known before.
`
