/** The depth of other markets: in the configuration, or in files that are rewritten at any time. */
import { resolve } from 'node:path'
import { choice, integer, list, mapping, tagged, text } from '../field.ts'
import { address, MAX } from '../formats.ts'

/** September 2001: an earlier time is in seconds. */
const LEAST_TIME_MS = 1_000_000_000_000

const DEPTHS = {
  as_of_ms: integer(
    'The time of the numbers, in Unix milliseconds; they are valid for a day.',
    [LEAST_TIME_MS, MAX, 'Unix milliseconds'],
    { examples: [1_763_164_800_000] },
  ),
  assets: list(
    'One entry per asset.',
    mapping('', {
      chain_id: integer('The chain of the asset.', [1, MAX], { examples: [1] }),
      token_address: address('The asset.'),
      external_depth_usd: text(
        'Dollars that move its price by 2% elsewhere, as a string of digits.',
        [/^[0-9]{1,18}$/, 'whole dollars as a string of digits'],
        { examples: ['25000000'] },
      ),
    }),
  ),
} as const

/** A file has the keys of a static source. */
export const COVERAGE_FILE = mapping('', DEPTHS)

export const COVERAGE = mapping('Market depth elsewhere; can only lower a score.', {
  sources: list(
    'The sources of that depth.',
    tagged(
      'kind',
      {
        kind: choice(
          'static: the numbers are given here; file: they are in a file that is reread every minute.',
          ['static', 'file'],
        ),
      },
      {
        static: DEPTHS,
        file: {
          path: text(
            'For kind file: a JSON file with as_of_ms and assets in the same form; relative to this configuration unless absolute.',
            [/\S/, 'the path of a JSON file'],
            { convert: (path, folder) => resolve(folder, path), examples: ['coverage.json'] },
          ),
        },
      },
      { alien: 'a source of kind' },
    ),
  ),
})
