import { usdFromPico, type Price } from '@gateway/pricing/price'
import { usageCounts, type UsageCount } from '@gateway/pricing/usage'
import type { ProviderTry } from '@gateway/api/chat-answer'
import type { InvocationRecord, ReleaseReason } from '@gateway/api/console/money'
import type { ProductPricing } from '@gateway/api/console/products'

/** A call as stored, open or closed: money in micro-USD, prices in pico-USD. */
export interface StoredCall extends Price, Record<UsageCount, number | null> {
  invocation: string
  /** Empty if a user runs a sandbox product. */
  key: string
  product: string
  execution: string | null
  node: string | null
  state: InvocationRecord['state']
  estimated: boolean
  reservedMicro: bigint
  chargedMicro: bigint
  admittedAt: Date
  /** null while it is open. */
  closedAt: Date | null
  /** Why it was released, as written. */
  reason: string | null
  /** What its product is priced by now. */
  unit: string
  firstTokenMs: number | null
  /** JSON text. */
  tries: string | null
}

/**
 * Composes the record of a call, as users and keys read it.
 * @param seesProviders whether the reader may know who serves the models: a platform operator
 */
export function composeInvocation(call: StoredCall, seesProviders = false): InvocationRecord {
  return {
    id: call.invocation,
    key: call.key === '' ? null : call.key,
    model: call.product,
    execution: call.execution,
    node: call.node,
    state: call.state,
    ...countsIn(call),
    estimated: call.estimated,
    pricing: composePricing({ ...call, unit: unitOf(call) }),
    reservedMicro: Number(call.reservedMicro),
    chargedMicro: Number(call.chargedMicro),
    createdAt: call.admittedAt.toISOString(),
    closedAt: call.closedAt?.toISOString() ?? null,
    durationMs: call.closedAt && call.closedAt.getTime() - call.admittedAt.getTime(),
    reason: releaseReasonOf(call.reason),
    firstTokenMs: call.firstTokenMs,
    tries: call.tries === null ? null : triesOf(call.tries, seesProviders),
  }
}

function triesOf(text: string, seesProviders: boolean): NonNullable<InvocationRecord['tries']> {
  const tries = JSON.parse(text) as ProviderTry[]
  return tries.map(({ provider, ...rest }) => ({ provider: seesProviders ? provider : null, ...rest }))
}

/** A stored price as decimal strings of USD. */
export function composePricing({
  unit,
  promptPico,
  completionPico,
  requestPico,
  cachedPico,
  cacheWritePico,
  reasoningPico,
}: Price & { unit: string }): ProductPricing {
  if (unit === 'request') return { unit: 'request', request: usdFromPico(requestPico) }
  return {
    unit: 'tokens',
    prompt: usdFromPico(promptPico),
    completion: usdFromPico(completionPico),
    ...(typeof cachedPico === 'bigint' && { cachedPrompt: usdFromPico(cachedPico) }),
    ...(typeof cacheWritePico === 'bigint' && { cacheWrite: usdFromPico(cacheWritePico) }),
    ...(typeof reasoningPico === 'bigint' && { reasoning: usdFromPico(reasoningPico) }),
  }
}

/** A price of zero doesn't say what it is for; then the current unit of the product counts. */
function unitOf({ requestPico, promptPico, completionPico, unit }: StoredCall): string {
  if (requestPico > 0n) return 'request'
  return promptPico > 0n || completionPico > 0n ? 'tokens' : unit
}

function countsIn(call: StoredCall): Pick<InvocationRecord, UsageCount> {
  return Object.fromEntries(usageCounts.map((count) => [count, call[count]])) as Pick<InvocationRecord, UsageCount>
}

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
