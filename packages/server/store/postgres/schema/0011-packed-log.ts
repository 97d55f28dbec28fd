/**
 * Rows of the log are compressed. Older rows stay as they are until retention deletes them; an older program reads the
 * text alone, so it does not work with this version.
 */
export const packedLog = `
  -- The envelopes, see packed.ts; null in a row whose text is in 'body', which is empty otherwise.
  ALTER TABLE log ADD COLUMN packed BYTEA;
  -- What is compressed already is not tried again.
  ALTER TABLE log ALTER COLUMN packed SET STORAGE EXTERNAL;
`
