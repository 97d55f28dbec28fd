/**
 * Rows of the log are compressed. Those of before stay as they are until retention takes them; a program from before reads
 * the text alone, and so does not fit this version.
 */
export const packedLog = `
  -- The envelopes, see packed.ts; null in a row whose text is in 'body', which is empty otherwise.
  ALTER TABLE log ADD COLUMN packed BLOB;
`
