import { createHash, createHmac } from 'node:crypto'
import type { LedgerConfig } from '../config.ts'

/** What an operator says of webhooks. */
export interface WebhookSettings {
  /** The name of the key that new secrets are made with; null: there is none, and so there are no webhooks. */
  key: string | null
  /** May they have private addresses, and http? */
  privateAddresses: boolean
  /**
   * The secret of a webhook, as its owner was shown it; null: the key that it was made with is no longer here. It is
   * stored nowhere: it is made of the operator's key and the webhook's id, each time it is needed.
   */
  secretOf(webhook: { id: string; secretKey: string }): string | null
}

type Config = Pick<LedgerConfig, 'WEBHOOK_KEY' | 'WEBHOOK_KEY_PREVIOUS' | 'WEBHOOK_PRIVATE_ADDRESSES'>

export function webhookSettingsOf(config: Config): WebhookSettings {
  const { WEBHOOK_KEY: newest, WEBHOOK_KEY_PREVIOUS: previous } = config
  const keys = new Map([newest, previous].flatMap((key) => (key === undefined ? [] : [[nameOf(key), key]])))
  return {
    key: newest === undefined ? null : nameOf(newest),
    privateAddresses: config.WEBHOOK_PRIVATE_ADDRESSES,
    secretOf({ id, secretKey }) {
      const key = keys.get(secretKey)
      if (key === undefined) return null
      return `whsec_${createHmac('sha256', key).update(`secret of ${id}`).digest('base64')}`
    },
  }
}

function nameOf(key: string): string {
  return createHash('sha256').update(`name of ${key}`).digest('hex').slice(0, 16)
}
