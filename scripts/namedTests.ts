/** Whether a test named on a page exists, by its title as written in the file. */
import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'

/** How a title may begin: after `it`, `test` or a table of cases, on the same line or on its own. */
const BEGINNINGS = [/(?:it|test)\($/, /\)\($/, /\)\(\n\s+$/, /(?:it|test)\(\n\s+$/]

export function expectTest(file: string, title: string): void {
  const url = new URL(`../${file}`, import.meta.url)
  expect(existsSync(url), `${file} is not there`).toBe(true)
  const source = readFileSync(url, 'utf8')
  const isNamed = [`'${title}'`, `"${title}"`, `\`${title}\``].some(name => {
    for (let at = source.indexOf(name); at >= 0; at = source.indexOf(name, at + 1))
      if (BEGINNINGS.some(beginning => beginning.test(source.slice(Math.max(0, at - 40), at)))) return true
    return false
  })
  expect(isNamed, `${file} has no test ${JSON.stringify(title)}`).toBe(true)
}
