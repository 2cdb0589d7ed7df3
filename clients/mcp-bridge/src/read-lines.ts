import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'

/** Yields the lines of a stream that are not blank. */
export async function* readLines(stream: Readable): AsyncGenerator<string> {
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) if (line.trim() !== '') yield line
}
