import { createHash, createHmac } from 'node:crypto'
import type { LedgerConfig } from '../config.ts'

/** Webhook settings of an operator. */
export interface WebhookSettings {
  /** How long earlier secrets sign as well, unless a rotation asks for less. Seconds. */
  graceSeconds: number
  /** Name of the key that new secrets are derived from; null: there is none, and so there are no webhooks. */
  key: string | null
  /** Whether private addresses and http are allowed. */
  privateAddresses: boolean
  /** Where users reach the console; undefined: messages to Slack have no link. */
  publicUrl: string | undefined
  /**
   * Returns a secret of a webhook, as shown to its owner; null if the key it was derived from is no longer here. It is
   * not stored: it is derived from the operator's key, the webhook's id and the number of the secret each time it is
   * needed.
   */
  secretOf(webhook: { id: string; secretKey: string | null; generation: number }): string | null
}

/** What a secret of a webhook is derived from, together with its id. */
export interface SecretName {
  /** Name of the operator's key. */
  secretKey: string
  /** Number of the secret: 1 for the first, one more after each rotation. */
  generation: number
}

type Config = Pick<
  LedgerConfig,
  'WEBHOOK_KEY' | 'WEBHOOK_KEY_PREVIOUS' | 'WEBHOOK_PRIVATE_ADDRESSES' | 'WEBHOOK_SECRET_GRACE_SECONDS' | 'PUBLIC_URL'
>

export function webhookSettingsOf(config: Config): WebhookSettings {
  const { WEBHOOK_KEY: newest, WEBHOOK_KEY_PREVIOUS: previous } = config
  const keys = new Map([newest, previous].flatMap((key) => (key === undefined ? [] : [[nameOf(key), key]])))
  return {
    key: newest === undefined ? null : nameOf(newest),
    privateAddresses: config.WEBHOOK_PRIVATE_ADDRESSES,
    publicUrl: config.PUBLIC_URL,
    graceSeconds: config.WEBHOOK_SECRET_GRACE_SECONDS,
    secretOf({ id, secretKey, generation }) {
      const key = secretKey === null ? undefined : keys.get(secretKey)
      if (key === undefined) return null
      return `whsec_${createHmac('sha256', key).update(`secret ${generation} of ${id}`).digest('base64')}`
    },
  }
}

function nameOf(key: string): string {
  return createHash('sha256').update(`name of ${key}`).digest('hex').slice(0, 16)
}
