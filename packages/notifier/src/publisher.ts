import { channelOf, messageOf } from './channel.ts'
import type { RedisClient } from '@gateway/redis/open-redis'

/** Beyond so many topics that wait to be rung, the next one is dropped. */
const MOST_WAITING = 10_000
const MESSAGE_TOPICS = 500

export interface PublishedTopics {
  notify(topic: string): void
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>
}

/**
 * Publishes rings, one round trip in flight: what is rung meanwhile gathers, each topic once, and goes when it returns, as one message to
 * each channel.
 * What can't be sent is dropped.
 */
export function openPublishedTopics(redis: RedisClient): PublishedTopics {
  const waiting = new Set<string>()
  let scheduled = false
  let sending: Promise<void> | null = null

  function schedule(): void {
    if (scheduled || sending !== null) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      sending = send().finally(() => {
        sending = null
        if (waiting.size > 0) schedule()
      })
    })
  }

  async function send(): Promise<void> {
    const topics = [...waiting]
    waiting.clear()
    if (redis.status !== 'ready') return
    const sent: Promise<unknown>[] = []
    for (const [channel, rung] of Map.groupBy(topics, channelOf))
      for (let at = 0; at < rung.length; at += MESSAGE_TOPICS)
        sent.push(redis.publish(channel, messageOf(rung.slice(at, at + MESSAGE_TOPICS))))
    await Promise.allSettled(sent) // dropped: whoever listens also looks by itself
  }

  return {
    notify(topic) {
      if (waiting.size >= MOST_WAITING) return
      waiting.add(topic)
      schedule()
    },
    async idle() {
      while (scheduled || sending !== null) await (sending ?? new Promise(setImmediate))
    },
  }
}
