import { LRUCache } from 'lru-cache'

/**
 * Per project and minute: each attempt looks up a name of the user's choice, or has something posted to an address of
 * their choice.
 */
const MAX_ATTEMPTS = 20
const MINUTE_MS = 60_000
const PROJECTS_COUNTED = 10_000

export interface WebhookAttempts {
  /** Counts an attempt of the project. Returns false if it exceeds the limit of a minute. */
  admit(project: string): boolean
}

export function openWebhookAttempts(): WebhookAttempts {
  const counts = new LRUCache<string, number>({ max: PROJECTS_COUNTED, ttl: MINUTE_MS })
  return {
    admit(project) {
      const count = (counts.get(project) ?? 0) + 1
      counts.set(project, count, { noUpdateTTL: true })
      return count <= MAX_ATTEMPTS
    },
  }
}
