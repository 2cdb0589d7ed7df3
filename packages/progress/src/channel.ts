const PREFIX = '{svc}:bell:'

/** The channel of a topic. In braces what keeps all of them on one node of a cluster. */
export function channelOf(topic: string): string {
  return PREFIX + topic
}

export function topicOf(channel: string): string {
  return channel.slice(PREFIX.length)
}
