import { hash } from 'node:crypto'
import type { TokenizerFamily } from './tokenizer-families.ts'
import type { AnswerMessage, Delta } from '@gateway/api/chat-answer'

// A text is counted in slices, so that parts shared by two prompts are counted once, and no caller occupies a thread
// for long.
//   S1  A cut between a letter and a character that is neither letter, mark nor apostrophe splits no word of these
//       tokenizers: the counts of both sides add up to the count of the whole.
//   S2  Cuts depend only on the text before them. Appending to a text keeps its slices.
//   S3  Only texts that no one writes go this long without such a place. The rest is then one slice.

const SLICE = 2_048
const SEARCHED = 2_048

/** Splits a text into slices whose counts add up to its own. */
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

/** The first cut at or after this position. */
function nextCut(text: string, from: number): number {
  const furthest = from + SEARCHED
  for (let place = from; place < text.length && place < furthest; place++)
    if (endsWord(text.charCodeAt(place - 1), text.charCodeAt(place))) return place
  return text.length // S3
}

/** S1, for two adjacent code units. Half of a surrogate pair may be part of a letter, so it allows no cut. */
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

/** The cache key of a slice. The text itself is not stored. */
export function sliceName(project: string, family: TokenizerFamily, text: string): string {
  return hash('sha256', `${project}\n${family}\n${text}`, 'base64')
}

/** Collects the response text of a model, to count it if its provider does not. */
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
