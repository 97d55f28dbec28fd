import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { run } from './testing/session.ts'

const scriptOf = async (shell: string): Promise<string> => (await run('a pipe', ['completion', shell])).text

/** What bash itself offers after these words. */
function offered(script: string, words: readonly string[]): string[] {
  const line = `${script}
COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_assay; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', line], { encoding: 'utf8' }).trim().split('\n')
}

test('bash completes commands, those below them, and options', async () => {
  const script = await scriptOf('bash')
  expect(offered(script, ['assay', 'h'])).toEqual(['history'])
  expect(offered(script, ['assay', 'keys', ''])).toEqual(['issue', 'list', 'roll', 'revoke', '--help'])
  expect(offered(script, ['assay', 'keys', 'issue', '--s'])).toEqual(['--scopes'])
  expect(offered(script, ['assay', 'quote', '1', '0x12', '--'])).toEqual([
    '--url',
    '--key',
    '--json',
    '--wait',
    '--help',
  ])
  // A value that looks like a command leads nowhere.
  expect(offered(script, ['assay', 'keys', 'issue', '--name', 'roll', '--n'])).toEqual(['--name'])
})

test('does the same on a terminal, and the scripts for zsh and fish name every command', async () => {
  expect((await run('a terminal', ['completion', 'bash'])).text).toBe(await scriptOf('bash'))
  for (const shell of ['zsh', 'fish']) {
    const script = await scriptOf(shell)
    for (const name of ['start', 'watch', 'history', 'replay', 'world incident', 'db restore'])
      expect(script).toContain(name.split(' ').at(-1))
  }
})
