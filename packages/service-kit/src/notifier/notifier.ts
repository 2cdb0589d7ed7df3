import { backOffMs, type BackOffLimits } from '../async/back-off.ts'
import { openRedis, type RedisClient } from '../redis/open-redis.ts'
import { openPublisher } from './publisher.ts'
import { openSubscriber } from './subscriber.ts'

// A notifier says "look again", and nothing else. The truth is in the database; a notification may be lost, so each subscriber also
// looks by itself now and then. Notifications may be merged, and one may come without a cause.

export interface Notifier {
  /** Notifies whoever has subscribed to the topic, in any process. Waits for nothing and never fails. */
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
