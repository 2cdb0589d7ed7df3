import { openSubscribedTopics } from './subscribed-topics.ts'
import { openRedisConnection } from './redis-connection.ts'
import { openPublishedTopics } from './published-topics.ts'

// A notifier says "look again", and nothing else. The truth is on record; a ring may be lost, so whoever listens also looks by
// itself now and then. Rings may be merged, and one may come without a cause.

export interface Notifier {
  /** Tells whoever listens to the topic, on any process. Waits for nothing and never fails. */
  notify(topic: string): void
  /**
   * Calls `onRing`, which must not throw, at each ring of the topic from now on, and once after each time that nothing could be
   * heard. Answers how to stop.
   */
  listen(topic: string, onNotify: () => void): () => void
  close(): Promise<void>
}

/**
 * Opens a notifier over Redis. Each process hears all rings of the kinds of topics that it listens to, many in a message. It works as soon as Redis answers, and again after each outage.
 * @param onTrouble told the first error of each outage of a connection
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
  const publisher = openRedisConnection(redisUrl, onTrouble)
  const subscriber = openRedisConnection(redisUrl, onTrouble)
  const rung = openPublishedTopics(publisher)
  return {
    notify: rung.notify,
    listen: openSubscribedTopics(subscriber, now),
    async close() {
      await rung.idle()
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}
