import { SpanKind, SpanStatusCode, type Attributes, type Span, type Tracer } from '@opentelemetry/api'
import { ASK_BUDGET, NO_END, type Budget, type LedgerClient } from './ledger-client.ts'

/**
 * The ledger, with a span around each item and each start of a run, whose own span at the ledger is a part of it. What is asked
 * again and again, such as progress and heartbeats, has none. Without a tracer the client itself.
 */
export function tracedLedger(tracer: Tracer | null, ledger: LedgerClient): LedgerClient {
  if (tracer === null) return ledger

  function traced<Question extends object, Answer extends object>(
    op: string,
    ask: (question: Question, budget: Budget) => Promise<Answer>,
    usual: Budget,
    id: string,
  ): (question: Question, budget?: Budget) => Promise<Answer> {
    return (question, budget = usual) =>
      tracer!.startActiveSpan(
        `ledger ${op}`,
        { kind: SpanKind.CLIENT, attributes: attributesOf(question, { id }) },
        async (span) => {
          try {
            const answer = await ask(question, { ...budget, traceparent: traceparentOf(span) })
            span.setAttributes(attributesOf(answer))
            return answer
          } catch (error) {
            span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
            span.setStatus({ code: SpanStatusCode.ERROR })
            throw error
          } finally {
            span.end()
          }
        },
      )
  }

  return {
    ...ledger,
    admit: traced('admit', ledger.admit, ASK_BUDGET, RESERVATION),
    settle: traced('settle', ledger.settle, NO_END, RESERVATION),
    release: traced('release', ledger.release, NO_END, RESERVATION),
    claim: traced('claim', ledger.claim, ASK_BUDGET, RESERVATION),
    admitNode: traced('admit-node', ledger.admitNode, ASK_BUDGET, RESERVATION),
    complete: traced('complete', ledger.complete, NO_END, RESERVATION),
    startExecution: traced('start', ledger.startExecution, ASK_BUDGET, 'service.execution'),
    recordAsset: traced('record-asset', ledger.recordAsset, ASK_BUDGET, 'service.asset'),
  }
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
