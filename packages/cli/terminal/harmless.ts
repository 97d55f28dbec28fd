/**
 * The part of external text that a terminal may show: letters, lines and colours. Nothing that moves the cursor,
 * erases, queries the terminal, or changes the writing direction: a service, or an impostor, could otherwise
 * overwrite our output.
 */
const COMMANDS =
  // oxlint-disable-next-line no-control-regex -- the pattern must match these characters
  /\u001b(?!\[[0-9;]{0,20}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

export const harmless = (text: string): string => text.replaceAll(COMMANDS, '')
