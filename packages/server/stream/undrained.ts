/**
 * How much of a socket's writes the system has not accepted yet, as a measure that falls with every byte that leaves.
 * Node counts a write as pending until its last byte is gone; the handle below it counts bytes, and node's own socket
 * timeout uses it too. Only this distinguishes a slow reader from one that has stopped.
 */
import type { Duplex } from 'node:stream'

type Handled = { readonly _handle?: { readonly writeQueueSize?: number } | null }

export function undrained(socket: Duplex | null): number {
  if (socket === null) return 0
  const { _handle: handle } = socket as Handled
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
}
