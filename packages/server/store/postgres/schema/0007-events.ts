/**
 * Events do not tell again in their text what their columns hold. Those stored before do, and are read all the same; but
 * a program from before reads the text alone, and so does not fit this version.
 */
export const events = `
  COMMENT ON COLUMN pool_event.body IS
    'JSON of what the other columns do not tell; up to schema version 6 of the whole event without its finality';
`
