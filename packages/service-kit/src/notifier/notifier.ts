import { type BackOffLimits, backOffMs } from '../async/waiting.ts'
import { openRedis, type RedisClient } from '../redis/open-redis.ts'
import { openBatcher } from '../async/batcher.ts'

// A notifier says "look again", and nothing else. The truth is in the database; a notification may be lost, so each subscriber also
// looks by itself now and then. Notifications may be merged, and one may come without a cause.

export interface Notifier {
  /** Notifies anyone who has subscribed to the topic, in any process. Waits for nothing and never fails. */
  notify(topic: string): void
  /**
   * Calls `onNotify`, which must not throw, at each notification of the topic from now on, and once after each time in which none
   * could arrive. Answers how to unsubscribe.
   */
  subscribe(topic: string, onNotify: () => void): () => void
  close(): Promise<void>
}

/**
 * Opens a notifier over Redis. Each process receives all notifications of the kinds of topics that it has subscribed to, many in a
 * message. It works as soon as Redis answers, and again after each outage.
 * @param onTrouble gets the first error of each outage of a connection
 * @param now monotonic milliseconds
 */
export function openNotifier({
  redisUrl,
  onTrouble = () => {},
  now = () => performance.now(),
}: {
  redisUrl: string
  onTrouble?: (error: Error) => void
  now?: () => number
}): Notifier {
  const publishing = openConnection(redisUrl, onTrouble)
  const subscribing = openConnection(redisUrl, onTrouble)
  const publisher = openPublisher(publishing)
  return {
    notify: publisher.notify,
    subscribe: openSubscriber(subscribing, now),
    async close() {
      await publisher.idle()
      publishing.disconnect()
      subscribing.disconnect()
    },
  }
}

const BACK_OFF: BackOffLimits = { firstMs: 50, maxMs: 2_000 }
const COMMAND_MS = 2_000

/**
 * A connection on which nothing ever waits for Redis: what can't be sent now fails now, and what got no answer is not sent again.
 * It comes back by itself.
 */
function openConnection(url: string, onTrouble: (error: Error) => void): RedisClient {
  const redis = openRedis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    socketTimeout: COMMAND_MS, // a connection on which Redis did not answer is given up for another
    retryStrategy: (times) => backOffMs(times, BACK_OFF),
  })
  let troubled = false
  redis.on('ready', () => (troubled = false))
  redis.on('error', (error: Error) => {
    if (!troubled) onTrouble(error)
    troubled = true
  })
  return redis
}

const PREFIX = '{svc}:notifier:'

/** Topics of a kind share a channel, so that one subscription serves later topics too. */
export type Channel = string

/**
 * The channel of a topic: that of its kind, which is what stands before the colon. What the prefix has in braces keeps all of them
 * on one node of a cluster.
 */
export function channelOf(topic: string): Channel {
  const colon = topic.indexOf(':')
  return PREFIX + (colon === -1 ? 'any' : topic.slice(0, colon))
}

/** Many notifications are one message. No topic holds a line break. */
export const messageOf = (topics: readonly string[]): string => topics.join('\n')
export const topicsOf = (message: string): string[] => message.split('\n')

/** Beyond this many topics that wait to be published, the next one is dropped. */
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

  /** Not while it is down: `ready` subscribes all topics wanted by then. */
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

  /** A connection may be dead without a sign. To subscribe again is answered, and changes nothing. */
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
    const subscriber = () => onNotify() // a new function, so that one listener may subscribe twice
    add(topic, subscriber)
    return () => {
      const left = subscribers.get(topic)
      if (left?.delete(subscriber) && left.size === 0) subscribers.delete(topic)
    }
  }
}
