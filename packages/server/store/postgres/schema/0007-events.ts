/**
 * Events no longer repeat in their text what their columns contain. Older events do, and are still read; but an older
 * program reads the text alone, so it does not work with this version.
 */
export const events = `
  COMMENT ON COLUMN pool_event.body IS
    'JSON of what the other columns do not tell; up to schema version 6 of the whole event without its finality';
`
