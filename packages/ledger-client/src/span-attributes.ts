import type { Attributes } from '@opentelemetry/api'

/** What the `id` of an item is. */
export const RESERVATION = 'service.reservation'

/** What of a question or an outcome is an attribute: ids and amounts, never what someone wrote. */
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

/** Attributes of what passes between the ledger and its callers; by `more` also fields that mean something else elsewhere. */
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
