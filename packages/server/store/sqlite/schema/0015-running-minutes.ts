/**
 * The running minute of a token is stored as its difference from an 'open' entity. One stored whole is read as before; an
 * older program cannot read the difference, so it does not work with this version. No table changes.
 */
export const runningMinutes = `
  -- 'past' entities may be differences from 'open' entities.
`
