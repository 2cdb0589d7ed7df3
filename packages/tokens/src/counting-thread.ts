import { Worker } from 'node:worker_threads'
import type { CountAnswer, CountQuestion } from './counting-thread-main.ts'
import { wholeNumber } from '@gateway/service-kit/process/config'

export interface CountingThread {
  /** Tokens of each slice; null if the thread is too slow or fails. Never rejects. */
  count(slices: CountQuestion['slices']): Promise<number[] | null>
  close(): Promise<void>
}

interface Deps {
  /** Called with the reason why a count failed. */
  onTrouble: (reason: unknown) => void
  /** Longest time for one question, in milliseconds. */
  limitMs: number
}

interface Question {
  answer: (tokens: number[] | null) => void
  timer: NodeJS.Timeout
}

/** Memory of a thread: the tables of both tokenizers, and the texts being counted. */
const MAX_MEGABYTES = 512

/** A counting thread, started by its first question. If it fails, the next question starts another. */
export function openCountingThread({ onTrouble, limitMs }: Deps): CountingThread {
  let thread: Worker | null = null
  let last = 0
  const open = new Map<number, Question>()

  function start(): Worker {
    const worker = new Worker(new URL('./counting-thread-main.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    })
    worker.unref()
    worker.on('message', ({ n, tokens }: CountAnswer) => answer(n, tokens))
    worker.on('error', (error) => giveUp(worker, error))
    return worker
  }

  function answer(n: number, tokens: number[] | null): void {
    const question = open.get(n)
    if (!question) return
    open.delete(n)
    clearTimeout(question.timer)
    question.answer(tokens)
  }

  function giveUp(worker: Worker, reason: unknown): void {
    if (thread !== worker) return
    thread = null
    onTrouble(reason)
    void worker.terminate()
    for (const n of open.keys()) answer(n, null)
  }

  return {
    count(slices) {
      const worker = (thread ??= start())
      const n = ++last
      return new Promise((resolve) => {
        const timer = setTimeout(() => giveUp(worker, new Error(`no count after ${limitMs} ms`)), limitMs)
        open.set(n, { answer: resolve, timer })
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no such target
        worker.postMessage({ n, slices } satisfies CountQuestion)
      })
    },
    async close() {
      const worker = thread
      thread = null
      for (const n of open.keys()) answer(n, null)
      await worker?.terminate()
    },
  }
}

/** Variables of each service that counts prompt tokens. */
export const countingConfig = {
  COUNTING_THREADS: wholeNumber({ min: 1, max: 64 }).optional().meta({
    description:
      'Threads that count the tokens of prompts; without it 1, or 2 where there are more than two processors',
  }),
  MAX_CONCURRENT_PROMPT_CHARACTERS: wholeNumber({ min: 1, max: 1_000_000_000 }).default(33_554_432).meta({
    description: 'Characters of prompts that may wait to be counted, of one project as many as are free',
  }),
}
