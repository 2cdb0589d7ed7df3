import type { SecretName } from './webhook-settings.ts'

/** A secret from before a rotation, as stored with its webhook. */
export interface EarlierSecret extends SecretName {
  /** Until when it signs as well. ISO 8601, UTC. */
  until: string
}

/** Returns the earlier secrets that still sign. */
export function stillSigning(earlier: readonly EarlierSecret[], now: Date): EarlierSecret[] {
  return earlier.filter(({ until }) => until > now.toISOString())
}
