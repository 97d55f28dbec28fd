/**
 * Compiles the probe into the JSON beside it. Run by hand after a change of the source; the JSON carries the SHA-256
 * of the source, and a test fails when the two no longer match. The JSON holds the runtime code, not the creation
 * code: the probe is never deployed.
 *
 * solc is not a dependency: install it anywhere outside the repository and pass the folder.
 * packages/world/contracts/README.md names the version.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

type Solc = { compile(input: string): string }
type Contract = {
  readonly evm: {
    readonly deployedBytecode: { readonly object: string }
    readonly methodIdentifiers: Readonly<Record<string, string>>
  }
}
type Output = {
  readonly errors?: readonly { readonly formattedMessage: string }[]
  readonly contracts: Record<string, Record<string, Contract>>
}

const folder = process.argv[2]
if (folder === undefined) throw new Error('usage: node compile.ts <folder in which solc is installed>')
const solc = createRequire(join(folder, 'package.json'))('solc') as Solc

const FILE = 'Probe.sol'
const IMPORTED = 'PoolManager.sol'
const [source, imported] = [FILE, IMPORTED].map(file => readFileSync(new URL(file, import.meta.url), 'utf8'))
const input = {
  language: 'Solidity',
  sources: { [FILE]: { content: source }, [IMPORTED]: { content: imported } },
  settings: {
    // The oldest version that all chains of the built-in table support.
    evmVersion: 'paris',
    optimizer: { enabled: true, runs: 200 },
    viaIR: true,
    // Without the metadata hash, the same source compiles to the same bytes everywhere.
    metadata: { appendCBOR: false, bytecodeHash: 'none' },
    outputSelection: { '*': { '*': ['evm.deployedBytecode.object', 'evm.methodIdentifiers'] } },
  },
}
const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output
const faults = (output.errors ?? []).map(error => error.formattedMessage)
const contract = output.contracts?.[FILE]?.['Probe']
if (faults.length > 0 || contract === undefined) throw new Error(faults.join('\n'))
const selectors = Object.entries(contract.evm.methodIdentifiers).map(
  ([signature, selector]) => [signature.slice(0, signature.indexOf('(')), `0x${selector}`] as const,
)
const sha256 = (text = ''): string => createHash('sha256').update(text).digest('hex')
const compiled = {
  source: FILE,
  sourceSha256: sha256(source),
  imports: { [IMPORTED]: sha256(imported) },
  selectors: Object.fromEntries(selectors),
  runtimeCode: `0x${contract.evm.deployedBytecode.object}`,
}
writeFileSync(new URL('Probe.json', import.meta.url), `${JSON.stringify(compiled, null, 2)}\n`)
