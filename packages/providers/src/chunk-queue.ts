import { maxWaitingChunks } from './chat-port.ts'

/** Buffers chunks between a provider and a slower reader. */
export interface ChunkQueue<T> {
  push: (item: T) => void
  end: () => void
  /** The reader gets the items pushed before, then this failure. */
  fail: (reason: unknown) => void
  items: AsyncIterableIterator<T>
}

export interface QueueEvents {
  /** More than the bound are waiting. */
  full: () => void
  /** Half of the bound or fewer are waiting again. */
  drained: () => void
  /** The reader left before the end. */
  left: () => void
}

/** A queue for one reader. It stays bounded if the sender pauses when it is full. */
export function openChunkQueue<T>({ full, drained, left }: QueueEvents): ChunkQueue<T> {
  let waiting: T[] = []
  let head = 0
  let paused = false
  let end: { reason?: unknown } | null = null
  let readers: { resolve: (result: IteratorResult<T>) => void; reject: (reason: unknown) => void }[] = []
  const done = { value: undefined, done: true } as const

  function close(with_: { reason?: unknown }): void {
    if (end) return
    end = with_
    const unserved = readers
    readers = []
    for (const { resolve, reject } of unserved) {
      if ('reason' in end) {
        reject(end.reason)
        end = {}
      } else resolve(done)
    }
  }

  function takeOne(): T {
    const item = waiting[head++] as T
    if (head === waiting.length) {
      waiting = []
      head = 0
    }
    if (paused && waiting.length - head <= maxWaitingChunks / 2) {
      paused = false
      drained()
    }
    return item
  }

  return {
    push(item) {
      if (end) return
      const reader = readers.shift()
      if (reader) return reader.resolve({ value: item, done: false })
      waiting.push(item)
      if (!paused && waiting.length - head > maxWaitingChunks) {
        paused = true
        full()
      }
    },
    end: () => close({}),
    fail: (reason) => close({ reason }),
    items: {
      next() {
        if (head < waiting.length) return Promise.resolve({ value: takeOne(), done: false })
        if (!end) return new Promise((resolve, reject) => readers.push({ resolve, reject }))
        if (!('reason' in end)) return Promise.resolve(done)
        const { reason } = end
        end = {}
        return Promise.reject(reason)
      },
      return() {
        waiting = []
        head = 0
        if (!end) left()
        close({})
        end = {}
        return Promise.resolve(done)
      },
      [Symbol.asyncIterator]() {
        return this
      },
    },
  }
}
