const PREFIX = '{svc}:notifier:'

/** Topics of a kind share a channel, so that one subscription serves whatever is subscribed to next. */
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
