/**
 * Events no longer repeat in their text what their columns contain. Older events do, and are still read; but an older
 * program reads the text alone, so it does not work with this version. No table changes.
 */
export const events = `
  -- 'pool_event.body' is JSON of what the other columns do not tell.
`
