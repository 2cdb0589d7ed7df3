import type { Vocabulary } from './byte-pair-counter.ts'

/** The tokenizers that a product may name. */
export type TokenizerFamily = 'o200k_base' | 'cl100k_base'

/** Loads the tables of a tokenizer: some megabytes, so only when needed. */
export async function loadVocabulary(family: TokenizerFamily): Promise<Vocabulary> {
  const { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } = await import('gpt-tokenizer/encodingParams/constants')
  switch (family) {
    case 'o200k_base':
      return {
        tokens: (await import('gpt-tokenizer/bpeRanks/o200k_base')).default,
        words: O200K_TOKEN_SPLIT_REGEX,
      }
    case 'cl100k_base':
      return {
        tokens: (await import('gpt-tokenizer/bpeRanks/cl100k_base')).default,
        words: CL100K_TOKEN_SPLIT_REGEX,
      }
  }
  throw new Error(`${String(family)} is not a tokenizer`)
}
