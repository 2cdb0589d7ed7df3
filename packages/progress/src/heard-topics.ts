import type { Redis } from 'ioredis'
import { channelOf, topicOf } from './channel.ts'

type OnRing = () => void

/**
 * Keeps a subscription for each topic that has listeners, over every loss of the connection.
 * Its listeners are also rung when it stands, at first and again, because what was rung before that went by.
 */
export function openHeardTopics(redis: Redis): (topic: string, onRing: OnRing) => () => void {
  const listeners = new Map<string, Set<OnRing>>()

  redis.on('ready', () => {
    if (listeners.size > 0) void subscribe([...listeners.keys()])
  })
  redis.on('message', (channel: string) => tell(topicOf(channel)))

  /** Not while it is down: `ready` subscribes whatever is listened to by then. */
  async function subscribe(topics: string[]): Promise<void> {
    if (redis.status !== 'ready') return
    try {
      await redis.subscribe(...topics.map(channelOf))
    } catch {
      // The connection broke, or Redis does not answer: on a fresh one everything is subscribed again.
      if (redis.status === 'ready') redis.disconnect(true)
      return
    }
    for (const topic of topics) tell(topic)
  }

  function tell(topic: string): void {
    for (const onRing of listeners.get(topic) ?? []) onRing()
  }

  return (topic, onRing) => {
    const listener = () => onRing() // of its own, so that one function may listen twice
    const others = listeners.get(topic)
    if (others) others.add(listener)
    else {
      listeners.set(topic, new Set([listener]))
      void subscribe([topic])
    }
    return () => {
      const left = listeners.get(topic)
      if (!left?.delete(listener) || left.size > 0) return
      listeners.delete(topic)
      if (redis.status === 'ready') redis.unsubscribe(channelOf(topic)).catch(() => {})
    }
  }
}
