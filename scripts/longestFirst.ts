/** The order in which vitest starts test files: the longest ones of each suite first, then as vitest itself decides. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { suites } from './suites.ts'

const LONGEST = suites.flatMap(({ longest = [] }) => longest)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.indexOf(relative(process.cwd(), moduleId))
  return rank === -1 ? LONGEST.length : rank
}
