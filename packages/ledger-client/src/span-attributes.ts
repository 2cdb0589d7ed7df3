import type { Attributes } from '@opentelemetry/api'

/** Attribute that holds the `id` of an item. */
export const RESERVATION = 'service.reservation'

/** Fields of a request or an outcome that become attributes: ids and amounts, never text that someone wrote. */
const NAMES: Record<string, string> = {
  kind: 'service.outcome',
  code: 'service.refusal',
  invocation: 'service.invocation',
  callId: 'service.invocation',
  execution: 'service.execution',
  node: 'service.node',
  attempt: 'service.attempt',
  project: 'service.project',
  sandbox: 'service.sandbox',
  product: 'gen_ai.request.model',
  reservedMicro: 'service.reserved_micro',
  chargedMicro: 'service.charged_micro',
}

/** Attributes of requests and outcomes. `more` adds fields that mean something else elsewhere. */
export function attributesOf(value: object, more: Record<string, string> = {}): Attributes {
  const attributes: Attributes = {}
  for (const [field, found] of Object.entries(value)) {
    const name = NAMES[field] ?? more[field]
    if (name !== undefined && (typeof found === 'string' || typeof found === 'number') && found !== '')
      attributes[name] = found
  }
  const { refused } = value as { refused?: { code: string } }
  if (refused !== undefined) attributes['service.refusal'] = refused.code
  return attributes
}
