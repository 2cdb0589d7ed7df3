import { refuse } from '@gateway/contracts/refusal'

export type FewAtOnce = <T>(job: () => Promise<T>) => Promise<T>

/**
 * Runs costly jobs a few at once, in the order they came, so that a crowd of them leaves the threads of the process to
 * others. Whoever comes when as many wait as may is refused `overloaded`.
 */
export function fewAtOnce({ running: most, waiting: longest }: { running: number; waiting: number }): FewAtOnce {
  let running = 0
  const queue: (() => void)[] = []

  return async (job) => {
    if (running >= most) {
      if (queue.length >= longest) throw refuse('overloaded', {})
      await new Promise<void>((resolve) => queue.push(resolve)) // whoever ends hands its place on
    } else running++
    try {
      return await job()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}
