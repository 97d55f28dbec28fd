/** The suites of the test command, in the order they run. Every test file belongs to exactly one. */
export type Suite = { readonly name: string; readonly about: string; readonly include: readonly string[] }

export const suites: readonly Suite[] = [
  { name: 'tidy', about: 'the house rules that a machine can hold', include: ['scripts'] },
  {
    name: 'engine',
    about: 'arithmetic, pool maths, prices, confidence, the step function and its laws',
    include: ['packages/engine', '--exclude', '**/*.differential.test.ts'],
  },
  {
    name: 'chains',
    about: 'a local world of real contracts, and our maths against them',
    include: ['packages/world', 'differential'],
  },
]
