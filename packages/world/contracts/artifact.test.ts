import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Abi } from 'viem'
import { toEventSignature, toFunctionSignature } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  lookAlikePoolAbi,
  poolDeployerAbi,
  priceFeedAbi,
  proxiedTokenAbi,
  testTokenAbi,
  tokenProxyAbi,
  traderAbi,
} from './abi.ts'
import oddTokens from './OddTokens.json' with { type: 'json' }
import lookAlikePool from './LookAlikePool.json' with { type: 'json' }
import poolDeployer from './PoolDeployer.json' with { type: 'json' }
import priceFeed from './PriceFeed.json' with { type: 'json' }
import proxiedToken from './ProxiedToken.json' with { type: 'json' }
import testToken from './TestToken.json' with { type: 'json' }
import tokenProxy from './TokenProxy.json' with { type: 'json' }
import trader from './Trader.json' with { type: 'json' }

describe.each([
  { artifact: lookAlikePool, typed: lookAlikePoolAbi as Abi },
  { artifact: poolDeployer, typed: poolDeployerAbi as Abi },
  { artifact: priceFeed, typed: priceFeedAbi as Abi },
  { artifact: proxiedToken, typed: proxiedTokenAbi as Abi },
  { artifact: testToken, typed: testTokenAbi as Abi },
  { artifact: tokenProxy, typed: tokenProxyAbi as Abi },
  { artifact: trader, typed: traderAbi as Abi },
])('$artifact.source', ({ artifact, typed }) => {
  it('is the source its bytecode was compiled from', () => {
    const source = readFileSync(new URL(artifact.source, import.meta.url))
    expect(createHash('sha256').update(source).digest('hex')).toBe(artifact.sourceSha256)
  })

  it.each(Object.entries('imports' in artifact ? artifact.imports : {}))(
    'was compiled with the %s in the repository',
    (file, hash) => {
      const source = readFileSync(new URL(`../../${file}`, import.meta.url))
      expect(createHash('sha256').update(source).digest('hex')).toBe(hash)
    },
  )

  it('has the interface that abi.ts states', () => {
    expect(sentences(typed)).toEqual(sentences(artifact.abi as Abi))
  })
})

it('has the odd tokens of its source', () => {
  const source = readFileSync(new URL(oddTokens.source, import.meta.url))
  expect(createHash('sha256').update(source).digest('hex')).toBe(oddTokens.sourceSha256)
})

/** Every entry of an ABI in one comparable form; parameter names are left out, types and outputs are not. */
function sentences(abi: Abi): string[] {
  return abi
    .map(entry => {
      if (entry.type === 'function') {
        const outputs = entry.outputs.map(output => output.type).join(',')
        return `${entry.stateMutability} ${toFunctionSignature(entry)} returns ${outputs}`
      }
      if (entry.type === 'event') {
        const indexed = entry.inputs.map(input => input.indexed === true).join(',')
        return `event ${toEventSignature(entry)} ${indexed}`
      }
      const inputs = 'inputs' in entry ? entry.inputs.map(input => input.type).join(',') : ''
      return `${entry.type} ${inputs}`
    })
    .sort()
}
