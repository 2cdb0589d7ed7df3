import { channelOf, topicsOf, type Channel } from './channel.ts'
import type { RedisClient } from '@gateway/redis/open-redis'

type OnNotify = () => void

/** How long a connection is trusted that has answered. Milliseconds. */
const PROOF_MS = 1_000

/**
 * Keeps a subscription for each channel that anybody has listened to, over every loss of the connection: who listens to one more topic
 * of it hears at once, and nothing is asked of Redis. Listeners are also rung when a subscription stands, at first and again, because
 * what was rung before that went by.
 * @param now monotonic milliseconds
 */
export function openSubscribedTopics(
  redis: RedisClient,
  now: () => number,
): (topic: string, onNotify: OnNotify) => () => void {
  const listeners = new Map<string, Set<OnNotify>>()
  const channels = new Set<Channel>()
  const standing = new Set<Channel>()
  let provenMs = -Infinity
  let proving = false

  redis.on('ready', () => {
    standing.clear()
    if (channels.size > 0) void subscribe([...channels])
  })
  redis.on('message', (_channel: string, message: string) => topicsOf(message).forEach(tell))

  /** Not while it is down: `ready` subscribes whatever is listened to by then. */
  async function subscribe(wanted: Channel[]): Promise<void> {
    if (redis.status !== 'ready') return
    try {
      await redis.subscribe(...wanted)
    } catch {
      // The connection broke, or Redis does not answer: on a fresh one everything is subscribed again.
      if (redis.status === 'ready') redis.disconnect(true)
      return
    }
    provenMs = now()
    const fresh = wanted.filter((channel) => !standing.has(channel))
    for (const channel of fresh) standing.add(channel)
    for (const topic of listeners.keys()) if (fresh.includes(channelOf(topic))) tell(topic)
  }

  /** A connection may be dead without a word. To subscribe once more is answered, and changes nothing. */
  async function prove(channel: Channel): Promise<void> {
    if (proving || now() - provenMs < PROOF_MS) return
    proving = true
    await subscribe([channel])
    proving = false
  }

  function tell(topic: string): void {
    for (const onNotify of listeners.get(topic) ?? []) onNotify()
  }

  function add(topic: string, listener: OnNotify): void {
    const others = listeners.get(topic)
    if (others) others.add(listener)
    else listeners.set(topic, new Set([listener]))
    const channel = channelOf(topic)
    if (channels.has(channel)) return void prove(channel)
    channels.add(channel)
    void subscribe([channel])
  }

  return (topic, onNotify) => {
    const listener = () => onNotify() // of its own, so that one function may listen twice
    add(topic, listener)
    return () => {
      const left = listeners.get(topic)
      if (left?.delete(listener) && left.size === 0) listeners.delete(topic)
    }
  }
}
