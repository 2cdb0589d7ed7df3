import { setTimeout as wait } from 'node:timers/promises'
import { createRedisBackend, type BackendFactory, type RedisQueueBackend } from 'bullmq'

/** After an answer that is an error (a full or a read-only Redis) BullMQ would ask again at once, for ever. */
const PAUSE_AFTER_ERROR_MS = 500

/** BullMQ's way to Redis, which also tells each time that Redis answered when it was asked for a job. */
export function countedBackend(onAnswer: () => void): BackendFactory<RedisQueueBackend> {
  return (...options) => {
    const backend = createRedisBackend(...options)
    const ask = backend.moveToActive.bind(backend)
    backend.moveToActive = async (token, name) => {
      try {
        const answer = await ask(token, name)
        onAnswer()
        return answer
      } catch (error) {
        if (!backend.closing) await wait(PAUSE_AFTER_ERROR_MS)
        throw error
      }
    }
    return backend
  }
}
