/**
 * Pools of more families than v2 and v3 are stored. An older program cannot read their state, so it does not work with
 * this version. No table changes.
 */
export const families = `
  -- 'pool' entities may be of families that were not known before.
`
