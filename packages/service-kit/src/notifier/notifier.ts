import { type BackOffLimits, backOffMs } from '../async/waiting.ts'
import { openRedis, type RedisClient } from '../redis/open-redis.ts'
import { openBatcher } from '../async/batcher.ts'

// A notifier says "look again", or sends a text. The truth is in the database; a notification or text may be lost, so
// each subscriber also polls occasionally. Notifications may be merged, and some may be spurious. Texts of one sender
// arrive in order.

export interface Notifier {
  /** Notifies all subscribers of the topic, in any process. Returns immediately and never fails. */
  notify(topic: string): void
  /**
   * Calls `onNotify`, which must not throw, for each notification of the topic from now on, and once after each period
   * in which none could arrive. Returns a function that unsubscribes.
   */
  subscribe(topic: string, onNotify: () => void): () => void
  /**
   * Sends a text to those who receive the topic now, in any process. Returns immediately and never fails; a text that
   * Redis does not take in time is dropped.
   */
  send(topic: string, text: string): void
  /** Returns the topics that someone receives now; all of them if Redis cannot tell. */
  received(topics: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Calls `onText`, which must not throw, for each text sent to the topic from now on, and with null once after each
   * period in which none could arrive. Returns a function that ends it.
   */
  receive(topic: string, onText: (text: string | null) => void): () => void
  /** Resolves once all notifications so far are sent or dropped. */
  sent(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a notifier over Redis. Each process receives all notifications of the kinds of topics that it subscribes to,
 * batched in messages. It works as soon as Redis responds, and again after each outage.
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
    sent: publisher.idle,
    subscribe: openSubscriber(subscribing, now),
    receive: openReceiver(subscribing),
    send: openSender(publishing),
    received: (topics) => receivedTopics(publishing, topics),
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
 * Opens a connection on which nothing ever waits for Redis: a command that can't be sent fails immediately, and one
 * without a response is not sent again. It reconnects by itself.
 */
function openConnection(url: string, onTrouble: (error: Error) => void): RedisClient {
  const redis = openRedis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    socketTimeout: COMMAND_MS, // replaces a connection on which Redis does not respond
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
const TEXT_PREFIX = '{svc}:text:'

/** Topics of a kind share a channel, so that one subscription also serves later topics. */
export type Channel = string

/**
 * Returns the channel of a topic: that of its kind, the part before the colon. The part of the prefix in braces keeps
 * all channels on one node of a cluster.
 */
export function channelOf(topic: string): Channel {
  const colon = topic.indexOf(':')
  return PREFIX + (colon === -1 ? 'any' : topic.slice(0, colon))
}

/** Joins many notifications into one message. No topic contains a line break. */
export const messageOf = (topics: readonly string[]): string => topics.join('\n')
export const topicsOf = (message: string): string[] => message.split('\n')

/** Limit on topics that wait to be published; further ones are dropped. */
const MAX_WAITING = 10_000
const MESSAGE_TOPICS = 500

export interface Publisher {
  notify(topic: string): void
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>
}

/**
 * Publishes notifications with one round trip in flight: those added meanwhile gather, each topic once, and go out as
 * one message per channel when it returns. Those that can't be sent are dropped.
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
    await Promise.allSettled(sent) // dropped: each subscriber also polls
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

/** How long a connection is trusted after a response. Milliseconds. */
const PROOF_MS = 1_000

/**
 * Keeps a subscription for each channel ever subscribed to, across reconnects: a further topic of that channel needs no
 * command to Redis. Subscribers are also called whenever their channel is subscribed, since earlier notifications may
 * have been lost.
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
  redis.on('message', (channel: string, message: string) => {
    if (channel.startsWith(PREFIX)) topicsOf(message).forEach(call)
  })

  /** Skipped while the connection is down: `ready` subscribes all topics wanted by then. */
  async function subscribe(wanted: Channel[]): Promise<void> {
    if (redis.status !== 'ready') return
    try {
      await redis.subscribe(...wanted)
    } catch {
      // The connection broke, or Redis does not respond: a new one subscribes everything again.
      if (redis.status === 'ready') redis.disconnect(true)
      return
    }
    provenMs = now()
    const fresh = wanted.filter((channel) => !subscribed.has(channel))
    for (const channel of fresh) subscribed.add(channel)
    for (const topic of subscribers.keys()) if (fresh.includes(channelOf(topic))) call(topic)
  }

  /** A connection may be silently dead. A repeated subscription gets a response and changes nothing. */
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
    const subscriber = () => onNotify() // a new function, so that one listener can subscribe twice
    add(topic, subscriber)
    return () => {
      const left = subscribers.get(topic)
      if (left?.delete(subscriber) && left.size === 0) subscribers.delete(topic)
    }
  }
}

// Texts. Each topic has a channel, which is subscribed to only while someone receives it: a process gets only the
// texts that are read here.

const textChannelOf = (topic: string) => TEXT_PREFIX + topic

/** Of texts that Redis has not taken yet. Further ones are dropped. */
const MAX_UNSENT_CHARACTERS = 16 * 1024 * 1024

function openSender(redis: RedisClient): (topic: string, text: string) => void {
  let unsent = 0
  return (topic, text) => {
    if (redis.status !== 'ready' || unsent > MAX_UNSENT_CHARACTERS) return
    unsent += text.length
    redis
      .publish(textChannelOf(topic), text)
      .catch(() => {})
      .finally(() => (unsent -= text.length))
  }
}

/** A cluster counts the subscribers of one node alone. */
async function receivedTopics(redis: RedisClient, topics: readonly string[]): Promise<ReadonlySet<string>> {
  if (topics.length === 0) return new Set()
  if (redis.status !== 'ready' || redis.isCluster) return new Set(topics)
  try {
    const counts = (await redis.call('PUBSUB', 'NUMSUB', ...topics.map(textChannelOf))) as (string | number)[]
    return new Set(topics.filter((_, n) => Number(counts[2 * n + 1]) > 0))
  } catch {
    return new Set(topics)
  }
}

type OnText = (text: string | null) => void

function openReceiver(redis: RedisClient): (topic: string, onText: OnText) => () => void {
  const receivers = new Map<string, Set<OnText>>() // by channel

  redis.on('ready', () => {
    if (receivers.size > 0) void subscribe([...receivers.keys()])
  })
  redis.on('message', (channel: string, text: string) => {
    for (const onText of receivers.get(channel) ?? []) onText(text)
  })

  async function subscribe(channels: string[]): Promise<void> {
    if (redis.status !== 'ready') return
    try {
      await redis.subscribe(...channels)
    } catch {
      // A new connection subscribes everything again.
      if (redis.status === 'ready') redis.disconnect(true)
      return
    }
    for (const channel of channels) for (const onText of receivers.get(channel) ?? []) onText(null)
  }

  return (topic, onText) => {
    const channel = textChannelOf(topic)
    const receiver: OnText = (text) => onText(text)
    const others = receivers.get(channel)
    if (others) others.add(receiver)
    else receivers.set(channel, new Set([receiver]))
    void subscribe([channel])
    return () => {
      const left = receivers.get(channel)
      if (!left?.delete(receiver) || left.size > 0) return
      receivers.delete(channel)
      if (redis.status === 'ready') redis.unsubscribe(channel).catch(() => {})
    }
  }
}
