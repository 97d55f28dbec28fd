/**
 * The control of `bigBlock.ts`: a process that requests the receipts of a block and discards them. Forked with the
 * address of a node. When it receives a block hash, it reports the number of bytes in the answer.
 */
const node = process.argv[2] as string

process.on('message', (hash: string) => {
  void read(hash).then(bytes => process.send?.(bytes))
})
process.once('disconnect', () => process.exit())

async function read(hash: string): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockReceipts', params: [hash] })
  const answer = await fetch(node, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  let bytes = 0
  for await (const part of answer.body ?? []) bytes += part.length
  return bytes
}
