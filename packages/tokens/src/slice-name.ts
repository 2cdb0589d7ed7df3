import { hash } from 'node:crypto'
import type { TokenizerFamily } from './tokenizer-families.ts'

/** What the count of a slice is kept under. Of the text itself nothing is kept. */
export function sliceName(project: string, family: TokenizerFamily, text: string): string {
  return hash('sha256', `${project}\n${family}\n${text}`, 'base64')
}
