import { setPriority } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'

/** A thread that answers questions by plain values. */
export interface WorkerThread<Question, Answer> {
  /** Returns null if the thread is too slow or fails. Never rejects. */
  ask(question: Question): Promise<Answer | null>
  close(): Promise<void>
}

interface Options {
  /** Its program, which calls `answerQuestions`. */
  program: URL
  /** Maximum time for one question, in milliseconds. */
  limitMs: number
  maxMegabytes: number
  /** Called with the reason why a question has no answer. */
  onTrouble: (reason: unknown) => void
}

interface Open<Answer> {
  answer: (answer: Answer | null) => void
  timer: NodeJS.Timeout
}

/** Opens a thread that its first question starts. If it fails, the next question starts another. */
export function openWorkerThread<Question, Answer>({
  program,
  limitMs,
  maxMegabytes,
  onTrouble,
}: Options): WorkerThread<Question, Answer> {
  let thread: Worker | null = null
  let last = 0
  const open = new Map<number, Open<Answer>>()

  function start(): Worker {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: maxMegabytes } })
    worker.unref()
    worker.on('message', ({ n, answer }: { n: number; answer: Answer }) => close(n, answer))
    worker.on('error', (error) => giveUp(worker, error))
    return worker
  }

  function close(n: number, answer: Answer | null): void {
    const question = open.get(n)
    if (!question) return
    open.delete(n)
    clearTimeout(question.timer)
    question.answer(answer)
  }

  function giveUp(worker: Worker, reason: unknown): void {
    if (thread !== worker) return
    thread = null
    onTrouble(reason)
    void worker.terminate()
    for (const n of open.keys()) close(n, null)
  }

  return {
    ask(question) {
      const worker = (thread ??= start())
      const n = ++last
      return new Promise((resolve) => {
        const timer = setTimeout(() => giveUp(worker, new Error(`no answer after ${limitMs} ms`)), limitMs)
        open.set(n, { answer: resolve, timer })
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no such target
        worker.postMessage({ n, question })
      })
    },
    async close() {
      const worker = thread
      thread = null
      for (const n of open.keys()) close(n, null)
      await worker?.terminate()
    },
  }
}

/** Answers the questions of `openWorkerThread`: called in the thread's program. An error ends the thread. */
// oxlint-disable-next-line typescript/no-explicit-any -- what arrives is what the other side of the program sends
export function answerQuestions(answer: (question: any) => unknown): void {
  parentPort!.on('message', async ({ n, question }: { n: number; question: unknown }) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no such target
    parentPort!.postMessage({ n, answer: await answer(question) })
  })
}

/**
 * Leaves most of a contended processor to other threads: called in the thread's program. Only Linux has priorities of
 * threads.
 * @param nice 5 keeps a quarter of the processor, 10 a tenth
 */
export function yieldToOtherThreads(nice: 5 | 10): void {
  if (process.platform === 'linux') setPriority(0, nice)
}
