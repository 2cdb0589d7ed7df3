import { Worker } from 'node:worker_threads'
import type { Logger } from '@gateway/process/logger'

/** How many tokens a text is. Never rejects. */
export type CountTokens = (text: string) => Promise<number>

export interface TokenCounter {
  count: CountTokens
  close(): Promise<void>
}

interface Needs {
  log: Pick<Logger, 'warn'>
  /** How long one text may take. Milliseconds. */
  limitMs?: number
  /** Texts that may wait for the thread. */
  mostWaiting?: number
}

interface Waiting {
  answer: (tokens: number | null) => void
  timer: NodeJS.Timeout
}

/** English text and code have about four bytes a token; said only where counting failed. */
const BYTES_PER_TOKEN = 4

/**
 * Counts in a thread of its own, which is started at the first count: the tables are large and most gateways never need
 * them. Where the thread is too slow, too busy or broken, the count is guessed from the bytes.
 */
export function openTokenCounter({ log, limitMs = 5_000, mostWaiting = 64 }: Needs): TokenCounter {
  let thread: Worker | null = null
  let next = 0
  const waiting = new Map<number, Waiting>()

  function start(): Worker {
    const worker = new Worker(new URL('./token-counter-thread.ts', import.meta.url))
    worker.unref()
    worker.on('message', ({ n, tokens }: { n: number; tokens: number }) => answer(n, tokens))
    worker.on('error', (error) => giveUp(worker, error))
    return worker
  }

  function answer(n: number, tokens: number | null): void {
    const one = waiting.get(n)
    if (!one) return
    waiting.delete(n)
    clearTimeout(one.timer)
    one.answer(tokens)
  }

  /** Everything that waits is guessed, and the next count gets a new thread. */
  function giveUp(worker: Worker, reason: unknown): void {
    if (thread !== worker) return
    thread = null
    log.warn({ err: reason }, 'tokens could not be counted and are guessed')
    void worker.terminate()
    for (const n of waiting.keys()) answer(n, null)
  }

  function ask(text: string): Promise<number | null> {
    if (waiting.size >= mostWaiting) return Promise.resolve(null)
    const worker = (thread ??= start())
    const n = next++
    return new Promise((resolve) => {
      const timer = setTimeout(() => giveUp(worker, new Error(`no count after ${limitMs} ms`)), limitMs)
      waiting.set(n, { answer: resolve, timer })
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage({ n, text })
    })
  }

  return {
    async count(text) {
      if (text === '') return 0
      return (await ask(text)) ?? Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
    },
    async close() {
      const worker = thread
      thread = null
      for (const n of waiting.keys()) answer(n, null)
      await worker?.terminate()
    },
  }
}
