// No fewer tokens than this has a text, to any tokenizer that we know, without its tables.
//   L1  A letter that follows what is neither letter, mark nor apostrophe begins a word, or the second character of one. No token
//       reaches across words.
//   L2  A word of digits has three at most, and nothing else in it.
// Only ASCII is looked at: of other characters nothing is said.

/** A lower bound of the tokens of some texts. */
export function minTokensOf(texts: readonly string[]): number {
  let tokens = 0
  for (const text of texts) tokens += minTokens(text)
  return tokens
}

function minTokens(text: string): number {
  let words = 0
  let digits = 0
  let mayBegin = true
  for (let place = 0; place < text.length; place++) {
    const unit = text.charCodeAt(place)
    const lower = unit | 0x20
    if (lower >= 0x61 && lower <= 0x7a) {
      if (mayBegin) words++ // L1
      mayBegin = false
    } else {
      if (unit >= 0x30 && unit <= 0x39) digits++
      mayBegin = unit < 0x80 && unit !== 0x27
    }
  }
  return words + Math.ceil(digits / 3) // L2
}
