import type { ServerResponse } from 'node:http'

/** Aborts when the caller leaves before he has his answer. */
export function goneOf(res: ServerResponse): AbortSignal {
  const gone = new AbortController()
  res.once('close', () => {
    if (!res.writableFinished) gone.abort()
  })
  return gone.signal
}
