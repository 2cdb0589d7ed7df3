import { SpanKind, type Span } from '@opentelemetry/api'
import type { LedgerItem } from '@gateway/ledger-protocol/ledger-items'
import type { OperationSpan } from '@gateway/ledger-protocol/ledger-operations'
import { attributesOf, RESERVATION } from '@gateway/ledger-client/span-attributes'
import { withSpan } from '@gateway/service-kit/process/spans'

// Spans of the ledger in other processes' traces.
//   T1  The span of an item is a child of the span that its line names. An item of a caller that isn't traced has none,
//       and neither have the items of maintenance.
//   T2  A batch decides items of many traces, so it is part of none of them: it has a separate trace, and is linked
//       with its items.
//   T3  An execution is stored with the span that started it (start-execution.ts), so that each attempt at one of its
//       nodes continues in that trace. An untraced caller's execution gets a trace here.

/** Decides an item in a separate span (T1). */
export function withItemSpan<Outcome extends object>(
  item: LedgerItem,
  traceparent: string,
  decide: () => Promise<Outcome>,
): Promise<Outcome> {
  const attributes = attributesOf(item, { id: RESERVATION })
  const options = { kind: SpanKind.SERVER, attributes, under: { traceparent } }
  return withSpan(`ledger ${item.op}`, options, async (span) => {
    const outcome = await decide()
    span.setAttributes(attributesOf(outcome))
    return outcome
  })
}

/** Runs a batch in a span that is linked with those of its items (T2), or in none if no item has one. */
export function withBatchSpan<T>(batch: readonly { span?: Span | undefined }[], run: () => Promise<T>): Promise<T> {
  const parts = batch.flatMap(({ span }) => span ?? [])
  if (parts.length === 0) return run()
  const options = {
    under: null,
    attributes: { 'service.batch.items': batch.length },
    links: parts.map((part) => ({ context: part.spanContext() })),
  }
  return withSpan('ledger batch', options, (span) => {
    for (const part of parts) part.addLink({ context: span.spanContext() })
    return run()
  })
}

/** Runs an operation in a span, or without one for an untraced caller, unless it begins traces (T3). */
export function withOperationSpan<Answer extends { status: number }>(
  { name, begins }: OperationSpan,
  traceparent: string | undefined,
  run: () => Promise<Answer>,
): Promise<Answer> {
  if (traceparent === undefined && !begins) return run()
  return withSpan(`ledger ${name}`, { kind: SpanKind.SERVER, under: { traceparent } }, async (span) => {
    const answer = await run()
    span.setAttribute('http.response.status_code', answer.status)
    return answer
  })
}
