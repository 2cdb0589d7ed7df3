// How many tokens a text is, for tokenizers of the byte-pair kind (o200k_base, cl100k_base).
//   T1  The merging of one long word takes time by the square of its length, so a text is counted in slices.
//   T2  A cut between a letter and what is neither letter, mark nor apostrophe divides no word of these tokenizers: what is
//       counted on both sides adds up to what the whole would be.
//   T3  Where there is no such place the slices on both sides of the cut are bounded by their bytes, because no token is less
//       than one. Only text that nobody wrote has five hundred characters without one.
//   T4  Two characters are blanks here and none to the tokenizers of providers, or the other way round; each may change the
//       words around it.

/** Tokens of a text as a tokenizer counts them. */
export type CountText = (text: string) => number

const SLICE = 512
const BLANK_OR_NOT = /[\u0085\ufeff]/g
const TOKENS_AROUND = 4

/** Close to the count of the whole text, which a cut through a long word may change by a token. */
export function tokensOf(text: string, count: CountText): number {
  let tokens = 0
  for (const { slice } of slicesOf(text)) tokens += count(slice)
  return tokens
}

/** The count of the whole text, and where that can't be said exactly, more (T3, T4). */
export function maxTokensOf(text: string, count: CountText): number {
  let tokens = TOKENS_AROUND * (text.match(BLANK_OR_NOT)?.length ?? 0)
  for (const { slice, whole } of slicesOf(text)) tokens += whole ? count(slice) : Buffer.byteLength(slice)
  return tokens
}

/** `whole`: no word is divided at either end. */
function* slicesOf(text: string): Generator<{ slice: string; whole: boolean }> {
  let start = 0
  let wholeStart = true
  while (start < text.length) {
    const { end, whole } = nextCut(text, start)
    yield { slice: text.slice(start, end), whole: wholeStart && whole }
    start = end
    wholeStart = whole
  }
}

function nextCut(text: string, start: number): { end: number; whole: boolean } {
  const furthest = start + SLICE
  if (furthest >= text.length) return { end: text.length, whole: true }
  for (let end = furthest; end > start; end--)
    if (LETTER.test(text[end - 1]!) && !GOES_ON.test(text[end]!)) return { end, whole: true } // T2
  return { end: isHighSurrogate(text.charCodeAt(furthest - 1)) ? furthest + 1 : furthest, whole: false }
}

// Halves of surrogate pairs may be letters, so there is no cut beside them.
const LETTER = /^[\p{L}]$/u
const GOES_ON = /^[\p{L}\p{M}\p{Cs}']$/u

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff
}
