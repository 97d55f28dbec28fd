/** Facts about pools and tokens that never or rarely change, for the snapshot. */
import type { PoolFacts, TokenFacts } from '../port.ts'
import type { Connection } from './connection.ts'

export type FactsWriter = {
  writePool(chainId: number, pool: PoolFacts): void
  removePool(chainId: number, poolAddress: string): void
  writeToken(chainId: number, token: TokenFacts): void
}

export function factsWriter(connection: Connection): FactsWriter {
  const upsertPool = connection.prepare(`
    INSERT INTO pool
      (chain_id, pool_address, family, deployment_id, fee_ppm, token0, token1, created_block)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      family = excluded.family, deployment_id = excluded.deployment_id, fee_ppm = excluded.fee_ppm,
      token0 = excluded.token0, token1 = excluded.token1, created_block = excluded.created_block`)
  const deletePool = connection.prepare('DELETE FROM pool WHERE chain_id = ? AND pool_address = ?')
  const upsertToken = connection.prepare(`
    INSERT INTO token (chain_id, token_address, symbol, name, decimals, role, enrolled_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      symbol = excluded.symbol, name = excluded.name, decimals = excluded.decimals, role = excluded.role,
      enrolled_at_ms = excluded.enrolled_at_ms`)
  return {
    writePool(chainId, pool) {
      const { poolAddress, family, deploymentId, feePpm, token0, token1, createdBlock } = pool
      upsertPool.run(chainId, poolAddress, family, deploymentId, feePpm, token0, token1, createdBlock)
    },
    removePool(chainId, poolAddress) {
      deletePool.run(chainId, poolAddress)
    },
    writeToken(chainId, { tokenAddress, symbol, name, decimals, role, enrolledAtMs }) {
      upsertToken.run(chainId, tokenAddress, symbol, name, decimals, role, enrolledAtMs)
    },
  }
}
