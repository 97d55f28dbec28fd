/**
 * Compiles the contracts of this folder into the JSON beside them. Run by hand after a change of a source; the JSON
 * carries the SHA-256 of its source, and a test fails when the two no longer match.
 *
 * solc is not a dependency: install it anywhere outside the repository and pass the folder. See README.md.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const NAMES = [
  'LookAlikePool',
  'PoolDeployer',
  'PriceFeed',
  'ProxiedToken',
  'TestToken',
  'TokenProxy',
  'Trader',
] as const

type Solc = { compile(input: string): string }
type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Record<
    string,
    Record<
      string,
      { readonly abi: readonly unknown[]; readonly evm: { readonly bytecode: { readonly object: string } } }
    >
  >
}

const folder = process.argv[2]
if (folder === undefined)
  throw new Error('usage: node contracts/compile.ts <folder in which solc is installed>')
const solc = createRequire(join(folder, 'package.json'))('solc') as Solc

/** Imports of a source, by the path from the packages: the sellability probe uses the same interfaces. */
const IMPORTS: Readonly<Record<string, readonly string[]>> = { 'Trader.sol': ['sdk/probe/PoolManager.sol'] }
const PACKAGES = new URL('../../', import.meta.url)
const FOLDER = 'world/contracts'

/** Many small contracts in one file: only the creation bytecode of each is kept. */
const ODD_TOKENS = 'OddTokens.sol'

for (const name of NAMES) {
  const file = `${name}.sol`
  const { source, contracts } = compiled(file)
  const contract = contracts[name]
  if (contract === undefined) throw new Error(`${file} has no contract ${name}`)
  const entries = contract.abi.map(entry => JSON.stringify(entry)).join(',\n  ')
  const fields = [
    `"source": "${file}"`,
    `"sourceSha256": "${sha256(source)}"`,
    ...(IMPORTS[file] === undefined ? [] : [`"imports": ${JSON.stringify(importsOf(file))}`]),
    `"abi": [\n  ${entries}\n ]`,
    `"bytecode": "0x${contract.evm.bytecode.object}"`,
  ]
  writeFileSync(new URL(`${name}.json`, import.meta.url), `{\n ${fields.join(',\n ')}\n}\n`)
}

const odd = compiled(ODD_TOKENS)
const bytecodes = Object.entries(odd.contracts)
  .map(([name, { evm }]) => [name, evm.bytecode.object] as const)
  .filter(([, code]) => code !== '')
const text = JSON.stringify(
  {
    source: ODD_TOKENS,
    sourceSha256: sha256(odd.source),
    bytecodes: Object.fromEntries(bytecodes.map(([name, code]) => [name, `0x${code}`])),
  },
  null,
  1,
)
writeFileSync(new URL('OddTokens.json', import.meta.url), `${text}\n`)

function compiled(file: string) {
  const source = read(`${FOLDER}/${file}`)
  const path = `${FOLDER}/${file}`
  const imported = (IMPORTS[file] ?? []).map(each => [each, { content: read(each) }] as const)
  const input = {
    language: 'Solidity',
    sources: { [path]: { content: source }, ...Object.fromEntries(imported) },
    settings: {
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 200 },
      // Without the metadata hash, the same source compiles to the same bytes everywhere.
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output
  const faults = (output.errors ?? []).map(error => error.formattedMessage)
  if (faults.length > 0) throw new Error(`${file}\n${faults.join('\n')}`)
  return { source, contracts: output.contracts[path] ?? {} }
}

function importsOf(file: string): Record<string, string> {
  return Object.fromEntries((IMPORTS[file] ?? []).map(each => [each, sha256(read(each))]))
}

function read(path: string): string {
  return readFileSync(new URL(path, PACKAGES), 'utf8')
}

function sha256(source: string): string {
  return createHash('sha256').update(source).digest('hex')
}
