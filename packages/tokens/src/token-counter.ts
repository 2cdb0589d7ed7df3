import { Worker } from 'node:worker_threads'
import type { CountAnswer, CountQuestion, TokenizerFamily } from './token-counter-thread.ts'

export type { TokenizerFamily } from './token-counter-thread.ts'

/** How many tokens a text is. Never rejects. */
export type CountTokens = (text: string) => Promise<number>

/** No more tokens than this are these texts to a tokenizer; null where it was not counted. Never rejects. */
export type CountAtMost = (texts: string[], family: TokenizerFamily) => Promise<number | null>

export interface TokenCounter {
  /** Where the thread is too slow, too busy or broken, the count is estimated from the bytes. */
  count: CountTokens
  countAtMost: CountAtMost
  close(): Promise<void>
}

interface Deps {
  log: { warn(facts: object, message: string): void }
  /** How long one question may take. Milliseconds. */
  limitMs?: number
  /** Questions that may wait for the thread. */
  maxWaiting?: number
}

interface Waiting {
  answer: (tokens: number | null) => void
  timer: NodeJS.Timeout
}

/** English text and code have about four bytes a token; said only where counting failed. */
const BYTES_PER_TOKEN = 4
/** Of what stands in for a tokenizer that is not known. */
const USUAL_FAMILY: TokenizerFamily = 'o200k_base'
const MAX_MEGABYTES = 512

/**
 * Counts in a thread of its own, which is started at the first count: the tables are large and most gateways never need
 * them.
 */
export function openTokenCounter({ log, limitMs = 5_000, maxWaiting = 64 }: Deps): TokenCounter {
  let thread: Worker | null = null
  let next = 0
  const waiting = new Map<number, Waiting>()

  function start(): Worker {
    const worker = new Worker(new URL('./token-counter-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    })
    worker.unref()
    worker.on('message', ({ n, tokens }: CountAnswer) => answer(n, tokens))
    worker.on('error', (error) => giveUp(worker, error))
    return worker
  }

  function answer(n: number, tokens: number | null): void {
    const question = waiting.get(n)
    if (!question) return
    waiting.delete(n)
    clearTimeout(question.timer)
    question.answer(tokens)
  }

  /** Nothing that waits is answered, and the next question gets a new thread. */
  function giveUp(worker: Worker, reason: unknown): void {
    if (thread !== worker) return
    thread = null
    log.warn({ err: reason }, 'tokens could not be counted')
    void worker.terminate()
    for (const n of waiting.keys()) answer(n, null)
  }

  function ask(question: Omit<CountQuestion, 'n'>): Promise<number | null> {
    if (waiting.size >= maxWaiting) return Promise.resolve(null)
    const worker = (thread ??= start())
    const n = next++
    return new Promise((resolve) => {
      const timer = setTimeout(() => giveUp(worker, new Error(`no count after ${limitMs} ms`)), limitMs)
      waiting.set(n, { answer: resolve, timer })
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no such target
      worker.postMessage({ n, ...question } satisfies CountQuestion)
    })
  }

  return {
    async count(text) {
      if (text === '') return 0
      const tokens = await ask({ family: USUAL_FAMILY, texts: [text], how: 'about' })
      return tokens ?? Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
    },
    countAtMost: (texts, family) => ask({ family, texts, how: 'at-most' }),
    async close() {
      const worker = thread
      thread = null
      for (const n of waiting.keys()) answer(n, null)
      await worker?.terminate()
    },
  }
}
