/** Puts Multicall3 on a test node, and makes the first block that has it. */
import { putMulticall3 as put } from '@assay/world'

export async function putMulticall3(ask: Parameters<typeof put>[0]): Promise<void> {
  await put(ask)
  await ask('anvil_mine', '0x1')
}
