// Two characters are blanks here and none to the tokenizers of providers, or the other way round; a third one is an s to them
// where it follows an apostrophe. Each may change the words around it.

const READ_IN_TWO_WAYS = /[\u0085\ufeff\u017f]/g
const TOKENS_AROUND = 4

/** Tokens that a provider may count beyond ours. */
export function roomFor(texts: readonly string[]): number {
  let places = 0
  for (const text of texts) places += text.match(READ_IN_TWO_WAYS)?.length ?? 0
  return TOKENS_AROUND * places
}
