import { parentPort } from 'node:worker_threads'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** What the caller wrote is text, also where it looks like a token that steers a model. */
const AS_TEXT = { disallowedSpecial: new Set<string>() }

/** The merging of one long word takes time by the square of its length, so a text is counted in slices of this many characters. */
const SLICE = 4_096

parentPort!.on('message', ({ n, text }: { n: number; text: string }) => {
  let tokens = 0
  for (let start = 0; start < text.length;) {
    const end = sliceEnd(text, start)
    tokens += countTokens(text.slice(start, end), AS_TEXT)
    start = end
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage({ n, tokens })
})

/** Not between the halves of a surrogate pair. */
function sliceEnd(text: string, start: number): number {
  const end = start + SLICE
  const last = text.charCodeAt(end - 1)
  return end < text.length && last >= 0xd8_00 && last <= 0xdb_ff ? end + 1 : end
}
