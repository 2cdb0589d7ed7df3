import { LRUCache } from 'lru-cache'
import { availableParallelism } from 'node:os'
import { openCountingThread } from './counting-thread.ts'
import { openFairQueue } from '@gateway/service-kit/async/fair-semaphore'
import type { TokenizerFamily } from './tokenizer-families.ts'
import { hash } from 'node:crypto'
import type { AnswerMessage, Delta } from '@gateway/api/chat-answer'

export type { TokenizerFamily } from './tokenizer-families.ts'

// Counts texts in separate threads: the tables are large, and the event loop must not block.
//   C1  A text is counted in slices. The count of a slice is cached by the hash of its project and text,
//       so a growing conversation is counted only where it is new, and response times reveal nothing about other
//       projects' prompts.
//   C2  Projects take turns of this many characters. A project may have as much waiting as is still free
//       (service-kit, async/fair-semaphore.ts).
//   C3  A text that would wait longer than `limitMs` is not counted: `null`, never a guess.

/** Tokens of a text, for the charge of a call whose provider did not report them. Never rejects. */
export type CountTokens = (text: string, project: string) => Promise<number>

/** Upper bound of the tokens of these texts; null if they were not counted in time. Never rejects. */
export type CountAtMost = (question: CountQuestion) => Promise<number | null>

export interface CountQuestion {
  project: string
  texts: string[]
  family: TokenizerFamily
}

export interface TokenCounter {
  /** Estimates the count from the bytes if the threads are too slow, too busy or broken. */
  count: CountTokens
  countAtMost: CountAtMost
  close(): Promise<void>
}

interface Options {
  log: { warn(facts: object, message: string): void }
  threads?: number | undefined
  /** Longest wait of a slice, in milliseconds. */
  limitMs?: number
  /** Time after which an unresponsive thread is given up. Its first result includes loading the tables. */
  threadLimitMs?: number
  /** Maximum number of characters that wait to be counted. */
  maxWaiting?: number
  /** Monotonic milliseconds. */
  now?: () => number
}

interface Slice {
  name: string
  family: TokenizerFamily
  text: string
  untilMs: number
  counted: PromiseWithResolvers<number | null>
}

/** Leaves one processor to the event loop. Each thread holds the tables: some 70 MB per tokenizer. */
const THREADS = availableParallelism() > 2 ? 2 : 1
const MAX_WAITING = 32 * 1024 * 1024
/** About 15 MB; 130 MB of text. */
const SLICES_KEPT = 65_536
/** Of a project, so that a prompt of usual size is one turn. */
const TURN_OF_A_PROJECT = 16_384
/** Passed to a thread at once, to keep its messages few. */
const HANDED = { slices: 32, characters: 8_192 }
/**
 * A thread with less than this gets more: its next work arrives before it is done, and no text waits long behind it.
 */
const CHARACTERS_OF_A_THREAD = 16_384
/** English text and code average about four bytes per token; used only if counting failed. */
const BYTES_PER_TOKEN = 4
/** Used if the tokenizer is not known. */
const USUAL_FAMILY: TokenizerFamily = 'o200k_base'

export function openTokenCounter(options: Options): TokenCounter {
  const { log, threads: count = THREADS, limitMs = 10_000, threadLimitMs = 30_000, maxWaiting = MAX_WAITING } = options
  const now = options.now ?? (() => performance.now())
  const onTrouble = (reason: unknown) => log.warn({ err: reason }, 'token count failed')
  const threads = Array.from({ length: count }, () => ({
    ...openCountingThread({ onTrouble, limitMs: threadLimitMs }),
    characters: 0,
  }))
  const kept = new LRUCache<string, number>({ max: SLICES_KEPT })
  const underWay = new Map<string, Slice>()
  const queue = openFairQueue<Slice>({ maxWeight: maxWaiting, turnWeight: TURN_OF_A_PROJECT })

  function handOut(): void {
    for (const thread of threads)
      while (thread.characters < CHARACTERS_OF_A_THREAD) {
        const slices = nextSlices()
        if (slices.length === 0) return
        const characters = lengthOf(slices)
        thread.characters += characters
        void thread.ask(slices.map(({ family, text }) => ({ family, text }))).then((tokens) => {
          thread.characters -= characters
          slices.forEach((slice, n) => finish(slice, tokens?.[n] ?? null))
          handOut()
        })
      }
  }

  function nextSlices(): Slice[] {
    const slices: Slice[] = []
    let characters = 0
    while (slices.length < HANDED.slices && characters < HANDED.characters) {
      const slice = queue.take()
      if (!slice) break
      if (now() >= slice.untilMs) {
        finish(slice, null) // C3
        continue
      }
      slices.push(slice)
      characters += slice.text.length
    }
    return slices
  }

  function finish({ name, counted }: Slice, tokens: number | null): void {
    underWay.delete(name)
    if (tokens !== null) kept.set(name, tokens)
    counted.resolve(tokens)
  }

  async function countSlices({ project, texts, family }: CountQuestion): Promise<number | null> {
    let tokens = 0
    const missing: { name: string; text: string }[] = []
    for (const text of texts.flatMap(slicesOf)) {
      const name = sliceName(project, family, text)
      const known = kept.get(name)
      if (known === undefined) missing.push({ name, text })
      else tokens += known
    }
    const fresh = missing.filter(({ name }) => !underWay.has(name))
    if (fresh.length > 0 && !queue.hasRoom(project, lengthOf(fresh))) return null // C2
    const untilMs = now() + limitMs
    const counts = missing.map(({ name, text }) => {
      const slice = underWay.get(name)
      if (slice) return slice.counted.promise
      const added: Slice = { name, family, text, untilMs, counted: Promise.withResolvers() }
      underWay.set(name, added)
      queue.push(project, added, text.length)
      return added.counted.promise
    })
    handOut()
    for (const counted of await Promise.all(counts)) {
      if (counted === null) return null
      tokens += counted
    }
    return tokens
  }

  return {
    async count(text, project) {
      const tokens = await countSlices({ project, texts: [text], family: USUAL_FAMILY })
      return tokens ?? Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
    },
    async countAtMost(question) {
      const tokens = await countSlices(question)
      return tokens === null ? null : tokens + roomFor(question.texts)
    },
    async close() {
      for (let slice = queue.take(); slice; slice = queue.take()) finish(slice, null)
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

function lengthOf(slices: { text: string }[]): number {
  return slices.reduce((sum, { text }) => sum + text.length, 0)
}

// Two characters are blanks here and not to the tokenizers of providers, or the reverse; a third is an s to them after
// an apostrophe. Each may change the words around it.

const READ_IN_TWO_WAYS = /[\u0085\ufeff\u017f]/g
const TOKENS_AROUND = 4

/** Tokens that a provider may count in addition to ours. */
export function roomFor(texts: readonly string[]): number {
  let places = 0
  for (const text of texts) places += text.match(READ_IN_TWO_WAYS)?.length ?? 0
  return TOKENS_AROUND * places
}

// A lower bound of the tokens of a text in any tokenizer that we know, without its tables.
//   L1  A letter after a character that is neither letter, mark nor apostrophe begins a word, or is the second
//       character of one. No token spans words.
//   L2  A word of digits has at most three, and nothing else.
// Only ASCII is considered; other characters add nothing to the bound.

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
function sliceName(project: string, family: TokenizerFamily, text: string): string {
  return hash('sha256', `${project}\n${family}\n${text}`, 'base64')
}

/** Collects the response text of a model, to count it if its provider does not. */
interface TextAccumulator {
  append(part: AnswerMessage | Delta): void
  text(): string
}

export function openTextAccumulator(): TextAccumulator {
  let text = ''
  return {
    append({ content, refusal, reasoning_content, reasoning, tool_calls: calls }) {
      // Some servers (vLLM) send the same reasoning under both names.
      text += (content ?? '') + (refusal ?? '') + (reasoning_content || (reasoning ?? ''))
      for (const { function: called } of calls ?? []) text += (called?.name ?? '') + (called?.arguments ?? '')
    },
    text: () => text,
  }
}
