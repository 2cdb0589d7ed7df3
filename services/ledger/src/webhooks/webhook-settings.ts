import { createHash, createHmac } from 'node:crypto'
import type { LedgerConfig } from '../config.ts'

/** Webhook settings of an operator. */
export interface WebhookSettings {
  /** Name of the key that new secrets are derived from; null: there is none, and so there are no webhooks. */
  key: string | null
  /** Whether private addresses and http are allowed. */
  privateAddresses: boolean
  /**
   * Returns the secret of a webhook, as shown to its owner; null if the key it was derived from is no longer here. It
   * is not stored: it is derived from the operator's key and the webhook's id each time it is needed.
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
