/**
 * The runs of a series, which all test the same commit. In a file, one line a run, a series survives an interruption:
 * a run that failed still counts when the series is continued.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'

export type Run = {
  readonly passed: number
  readonly failed: number
  /** Wall time and processor time, in words. */
  readonly took: string
  readonly failures: readonly string[]
}

type Line = Run & { readonly commit: string; readonly suites: string }

export class Series {
  readonly runs: Run[] = []
  readonly #of: Pick<Line, 'commit' | 'suites'>
  readonly #file: string | null

  /** Overwrites the file, or continues it. Refuses one that has runs of another commit or of other suites. */
  static open(
    names: readonly string[],
    file: string | null,
    isContinued: boolean,
    commit: () => string = commitHere,
  ): Series {
    if (file === null) return new Series('', names, null)
    const series = new Series(commit(), names, file)
    if (!isContinued) writeFileSync(file, '')
    else if (existsSync(file)) series.#read(readFileSync(file, 'utf8'))
    return series
  }

  private constructor(commit: string, names: readonly string[], file: string | null) {
    this.#of = { commit, suites: names.toSorted().join(' ') }
    this.#file = file
  }

  add(run: Run): void {
    this.runs.push(run)
    if (this.#file !== null)
      appendFileSync(this.#file, `${JSON.stringify({ ...this.#of, ...run } satisfies Line)}\n`)
  }

  #read(text: string): void {
    const { commit, suites } = this.#of
    for (const each of text.split('\n').filter(line => line !== '')) {
      const line = JSON.parse(each) as Line
      if (line.commit !== commit)
        throw new Error(`${this.#file} has runs of commit ${line.commit}, and this is ${commit}`)
      if (line.suites !== suites)
        throw new Error(`${this.#file} has runs of the suites ${line.suites}, and these are ${suites}`)
      this.runs.push(line)
    }
  }
}

function commitHere(): string {
  const git = (...args: readonly string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  if (git('status', '--porcelain') !== '')
    throw new Error('there are uncommitted changes, and a recorded run belongs to a commit')
  return git('rev-parse', 'HEAD')
}
