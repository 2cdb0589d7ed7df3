import { openBatcher } from '../async/batcher.ts'
import type { RedisClient } from '../redis/open-redis.ts'
import { channelOf, messageOf } from './channel.ts'

/** Beyond so many topics that wait to be published, the next one is dropped. */
const MAX_WAITING = 10_000
const MESSAGE_TOPICS = 500

export interface Publisher {
  notify(topic: string): void
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>
}

/**
 * Publishes notifications, one round trip in flight: what comes meanwhile gathers, each topic once, and goes when it returns, as one
 * message to each channel. What can't be sent is dropped.
 */
export function openPublisher(redis: RedisClient): Publisher {
  const waiting = new Set<string>()

  function take(): string[] | null {
    if (waiting.size === 0) return null
    const topics = [...waiting]
    waiting.clear()
    return topics
  }

  async function publish(batch: string[]): Promise<void> {
    if (redis.status !== 'ready') return
    const sent: Promise<unknown>[] = []
    for (const [channel, topics] of Map.groupBy(batch, channelOf))
      for (let start = 0; start < topics.length; start += MESSAGE_TOPICS)
        sent.push(redis.publish(channel, messageOf(topics.slice(start, start + MESSAGE_TOPICS))))
    await Promise.allSettled(sent) // dropped: each subscriber also looks by itself
  }

  const batcher = openBatcher({ take, run: publish, defer: setImmediate })
  return {
    notify(topic) {
      if (waiting.size >= MAX_WAITING) return
      waiting.add(topic)
      batcher.wake()
    },
    idle: batcher.idle,
  }
}
