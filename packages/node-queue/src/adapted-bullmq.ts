import { setTimeout as delay } from 'node:timers/promises'
import { createRedisBackend, Worker, type BackendFactory, type RedisQueueBackend } from 'bullmq'

/** A BullMQ worker that can be left behind: its own `close` waits for its jobs and for Redis, without end. */
export class AbandonableWorker<Data> extends Worker<Data, void> {
  /** Closes the connections and ends the renewal of locks, which then expire. To be called after `close`, if that hangs. */
  async abandon(): Promise<void> {
    await this.lockManager.close()
    await this.backend.close(true)
  }
}

/** After an answer that is an error (a full or a read-only Redis) BullMQ would ask again at once, for ever. */
const PAUSE_AFTER_ERROR_MS = 500

/** BullMQ's connection to Redis, which also calls back each time that Redis answered when it was asked for a job. */
export function observedBackend(onAnswer: () => void): BackendFactory<RedisQueueBackend> {
  return (...options) => {
    const backend = createRedisBackend(...options)
    const ask = backend.moveToActive.bind(backend)
    backend.moveToActive = async (token, name) => {
      try {
        const answer = await ask(token, name)
        onAnswer()
        return answer
      } catch (error) {
        if (!backend.closing) await delay(PAUSE_AFTER_ERROR_MS)
        throw error
      }
    }
    return backend
  }
}
