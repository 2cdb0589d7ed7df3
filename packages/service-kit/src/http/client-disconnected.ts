import type { ServerResponse } from 'node:http'

/** The client left before anything was done for it. There is nobody to answer. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client has disconnected')
  }
}

/** Aborts when the client leaves before it has its answer. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const disconnected = new AbortController()
  res.once('close', () => {
    if (!res.writableFinished) disconnected.abort()
  })
  return disconnected.signal
}
