import { SpanKind, SpanStatusCode, type Attributes, type Span, type Tracer } from '@opentelemetry/api'

/**
 * Calls the ledger inside a span, of which the ledger's own becomes a part by its `traceparent`. Without a tracer it just calls.
 * @param id the attribute that the `id` of the request is
 */
export function withClientSpan<Response extends object>(
  tracer: Tracer | null,
  { name, id }: { name: string; id: string },
  request: object,
  call: (traceparent?: string) => Promise<Response>,
): Promise<Response> {
  if (tracer === null) return call()
  const attributes = attributesOf(request, { id })
  return tracer.startActiveSpan(`ledger ${name}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      const response = await call(traceparentOf(span))
      span.setAttributes(attributesOf(response))
      return response
    } catch (error) {
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw error
    } finally {
      span.end()
    }
  })
}

/** What the `id` of an item is. */
export const RESERVATION = 'service.reservation'

/** What of a question or an outcome is an attribute: ids and amounts, never what somebody wrote. */
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

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
