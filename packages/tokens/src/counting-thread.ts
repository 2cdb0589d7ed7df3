import { openWorkerThread, type WorkerThread } from '@gateway/service-kit/async/worker-thread'
import { wholeNumber } from '@gateway/service-kit/process/config'
import type { Slice } from './counting-thread-main.ts'

/** Returns the tokens of each slice. */
export type CountingThread = WorkerThread<Slice[], number[]>

interface Deps {
  /** Called with the reason why a count failed. */
  onTrouble: (reason: unknown) => void
  /** Maximum time for one question, in milliseconds. */
  limitMs: number
}

/** Memory of a thread: the tables of both tokenizers, and the texts being counted. */
const MAX_MEGABYTES = 512

export function openCountingThread(deps: Deps): CountingThread {
  const program = new URL('./counting-thread-main.ts', import.meta.url)
  return openWorkerThread({ ...deps, program, maxMegabytes: MAX_MEGABYTES })
}

/** Variables of each service that counts prompt tokens. */
export const countingConfig = {
  COUNTING_THREADS: wholeNumber({ min: 1, max: 64 }).optional().meta({
    description:
      'Number of threads that count the tokens of prompts. Without it, 1, or 2 on machines with more than two processors',
  }),
  MAX_CONCURRENT_PROMPT_CHARACTERS: wholeNumber({ min: 1, max: 1_000_000_000 }).default(33_554_432).meta({
    description: 'Maximum characters of prompts waiting to be counted. One project may use all that are free',
  }),
}
