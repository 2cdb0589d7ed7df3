import type { ReleaseReason } from '@gateway/api/console/money'

/** Reasons that our services write when they release. */
const known: Readonly<Record<string, ReleaseReason>> = {
  'its key or project calls too often': 'rate_limited',
  'its instance ended': 'instance_ended',
  'its worker gave it back': 'handed_back',
  'its node ended without usage': 'node_failed',
  'its execution was over': 'execution_over',
  'it was not sent': 'not_sent',
  'its admission was not answered in time': 'not_answered',
}

/** Reasons that are not errors of a call (money §9.6): it is made again, or its execution had ended. */
export const notErrors = ['its worker gave it back', 'its execution was over']

/**
 * A stored reason is free text of ours or a provider's, which may name the provider: none of it is shown (rules §2.1).
 */
export function releaseReasonOf(written: string | null): ReleaseReason | null {
  if (written === null) return null
  if (written.startsWith('provider ')) return 'provider_failed'
  return Object.hasOwn(known, written) ? known[written]! : 'failed'
}
