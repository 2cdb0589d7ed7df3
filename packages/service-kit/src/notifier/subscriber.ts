import type { RedisClient } from '../redis/open-redis.ts'
import { channelOf, topicsOf, type Channel } from './channel.ts'

type OnNotify = () => void

/** How long a connection is trusted that has answered. Milliseconds. */
const PROOF_MS = 1_000

/**
 * Keeps a subscription for each channel that was ever subscribed to, over every loss of the connection: another topic of that channel
 * needs nothing of Redis. Subscribers are also called when their channel is subscribed, at first and again, because what was
 * published before that is lost.
 * @param now monotonic milliseconds
 */
export function openSubscriber(
  redis: RedisClient,
  now: () => number,
): (topic: string, onNotify: OnNotify) => () => void {
  const subscribers = new Map<string, Set<OnNotify>>()
  const channels = new Set<Channel>()
  const subscribed = new Set<Channel>()
  let provenMs = -Infinity
  let proving = false

  redis.on('ready', () => {
    subscribed.clear()
    if (channels.size > 0) void subscribe([...channels])
  })
  redis.on('message', (_channel: string, message: string) => topicsOf(message).forEach(call))

  /** Not while it is down: `ready` subscribes whatever is wanted by then. */
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
    const fresh = wanted.filter((channel) => !subscribed.has(channel))
    for (const channel of fresh) subscribed.add(channel)
    for (const topic of subscribers.keys()) if (fresh.includes(channelOf(topic))) call(topic)
  }

  /** A connection may be dead without a sign. To subscribe once more is answered, and changes nothing. */
  async function prove(channel: Channel): Promise<void> {
    if (proving || now() - provenMs < PROOF_MS) return
    proving = true
    await subscribe([channel])
    proving = false
  }

  function call(topic: string): void {
    for (const onNotify of subscribers.get(topic) ?? []) onNotify()
  }

  function add(topic: string, subscriber: OnNotify): void {
    const others = subscribers.get(topic)
    if (others) others.add(subscriber)
    else subscribers.set(topic, new Set([subscriber]))
    const channel = channelOf(topic)
    if (channels.has(channel)) return void prove(channel)
    channels.add(channel)
    void subscribe([channel])
  }

  return (topic, onNotify) => {
    const subscriber = () => onNotify() // of its own, so that one function may subscribe twice
    add(topic, subscriber)
    return () => {
      const left = subscribers.get(topic)
      if (left?.delete(subscriber) && left.size === 0) subscribers.delete(topic)
    }
  }
}
