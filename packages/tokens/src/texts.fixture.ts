import fc from 'fast-check'
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'

const AS_TEXT = { disallowedSpecial: new Set<string>() }

/** The tokenizers as their library counts: the whole text at once. */
export const tokenizers = {
  o200k_base: (text: string) => countO200k(text, AS_TEXT),
  cl100k_base: (text: string) => countCl100k(text, AS_TEXT),
}

// Pieces of texts, including characters that split words in different ways.
const piece = fc.constantFrom(
  'the ',
  'Hello',
  'Größenordnung',
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\t',
  "'s",
  "'RE",
  '123',
  '45',
  'ä',
  'é',
  'e\u0301',
  '漢字',
  '，',
  '😀',
  '==',
  '->',
  '{"a":',
  '</div>',
  'اللغة',
  'ไทย',
  '\u00a0',
  '/',
  '//',
  'A',
  'aB',
  '<|endoftext|>',
  '"',
  '\ud800',
)
const pieces = fc.array(piece, { minLength: 0, maxLength: 400 }).map((all) => all.join(''))
/** Repeats some pieces, for long texts. */
const repeated = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 600 }))
  .map(([all, times]) => all.join('').repeat(times))

/** Texts of every kind, up to thousands of characters. */
export const anyText = fc.oneof(pieces, repeated, fc.string({ unit: 'binary', maxLength: 200 }))
