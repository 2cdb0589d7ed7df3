import { hash } from 'node:crypto'
import type { TokenizerFamily } from './tokenizer-families.ts'
import type { AnswerMessage, Delta } from '@gateway/providers/chat-port'

// A text is counted in slices, so that what two prompts have in common is counted once, and no caller keeps a thread for long.
//   S1  A cut between a letter and what is neither letter, mark nor apostrophe divides no word of these tokenizers: what is
//       counted on both sides adds up to what the whole would be.
//   S2  Where the cuts are follows from what stands before them alone. A text that grows at its end keeps its slices.
//   S3  Only text that no one wrote has this many characters without such a place. Its rest is one slice.

const SLICE = 2_048
const SEARCHED = 2_048

/** The text in slices whose counts add up to its own. */
export function slicesOf(text: string): string[] {
  const slices: string[] = []
  let start = 0
  while (start < text.length) {
    const end = nextCut(text, start + SLICE)
    slices.push(text.slice(start, end))
    start = end
  }
  return slices
}

/** The first cut from here on. */
function nextCut(text: string, from: number): number {
  const furthest = from + SEARCHED
  for (let place = from; place < text.length && place < furthest; place++)
    if (endsWord(text.charCodeAt(place - 1), text.charCodeAt(place))) return place
  return text.length // S3
}

/** S1, for two neighbours. Halves of surrogate pairs may be letters, so there is no cut alongside them. */
function endsWord(left: number, right: number): boolean {
  if (left < 0x80 && right < 0x80) return isAsciiLetter(left) && !isAsciiLetter(right) && right !== APOSTROPHE
  return LETTER.test(String.fromCharCode(left)) && !GOES_ON.test(String.fromCharCode(right))
}

const APOSTROPHE = 0x27
const LETTER = /^[\p{L}]$/u
const GOES_ON = /^[\p{L}\p{M}\p{Cs}']$/u

function isAsciiLetter(unit: number): boolean {
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/** What the count of a slice is kept under. Of the text itself nothing is kept. */
export function sliceName(project: string, family: TokenizerFamily, text: string): string {
  return hash('sha256', `${project}\n${family}\n${text}`, 'base64')
}

/** Gathers the text that a model answers, to be counted where its provider does not. */
export interface TextAccumulator {
  append(part: AnswerMessage | Delta): void
  text(): string
}

export function openTextAccumulator(): TextAccumulator {
  let text = ''
  return {
    append({ content, refusal, reasoning_content, reasoning, tool_calls: calls }) {
      text += (content ?? '') + (refusal ?? '') + (reasoning_content ?? '') + (reasoning ?? '')
      for (const { function: called } of calls ?? []) text += (called?.name ?? '') + (called?.arguments ?? '')
    },
    text: () => text,
  }
}
