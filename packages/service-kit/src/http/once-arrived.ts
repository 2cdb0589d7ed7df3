import type { IncomingMessage } from 'node:http'

/**
 * Calls back once when the whole body has arrived or the connection is gone. A request with an early response emits
 * neither `end` nor `close` if its connection closes before its body has arrived.
 */
export function onceArrived(req: IncomingMessage, callback: () => void, socket = req.socket): void {
  function arrived(): void {
    req.off('end', arrived).off('close', arrived)
    socket.off('close', arrived)
    callback()
  }
  req.once('end', arrived).once('close', arrived)
  socket.once('close', arrived)
}
