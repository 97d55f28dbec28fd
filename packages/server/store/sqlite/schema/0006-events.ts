/**
 * Events do not tell again in their text what their columns hold. Those stored before do, and are read all the same; but
 * a program from before reads the text alone, and so does not fit this version. No table changes.
 */
export const events = `
  -- 'pool_event.body' is JSON of what the other columns do not tell.
`
