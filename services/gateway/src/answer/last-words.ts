import type { ServerResponse } from 'node:http'

const LAST_WORDS_MS = 60_000

/** Closes the connection of a caller who takes nothing more of his answer, which is whole but not all sent. */
export function limitLastWords(res: ServerResponse): void {
  if (res.writableLength > 0) res.setTimeout(LAST_WORDS_MS)
}
