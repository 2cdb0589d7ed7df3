import { SpanKind, type Span } from '@opentelemetry/api'
import type { RequestHandler } from 'express'
import type { LedgerItem } from '@gateway/contracts/ledger-items'
import type { OperationSpan } from '@gateway/contracts/ledger-operations'
import { attributesOf, RESERVATION } from '@gateway/ledger-client/client-span'
import type { Spans } from '@gateway/process/spans'
import type { RunBatch } from './admissions/run-batch.ts'

// The ledger in other processes' traces. All of it exists only where there is a collector.
//   T1  The span of an item is a child of the span that its line names. An item of a caller that isn't traced has none, and neither
//       have the items of maintenance.
//   T2  A batch decides items of many traces, so it is a part of none of them: it has a trace of its own, and it and its items are
//       linked with each other.
//   T3  An execution is stored with the span that started it (start-execution.ts), so that each attempt at a node of it goes on in that
//       trace. An untraced caller's execution gets a trace here.

export interface LedgerTrace {
  /** T1 */
  item<Outcome extends object>(item: LedgerItem, asker: string, decide: () => Promise<Outcome>): Promise<Outcome>
  /** An item's span is told what was charged, in micro-USD. */
  charged(item: object, micro: number): void
  /** T2 */
  batch(run: RunBatch): RunBatch
  /** An operation, in a request of its own. */
  operation(span: OperationSpan): RequestHandler
}

export function openLedgerTrace(spans: Spans): LedgerTrace {
  const spanOf = new WeakMap<object, Span>()

  return {
    item(item, traceparent, decide) {
      const attributes = attributesOf(item, { id: RESERVATION })
      const how = { kind: SpanKind.SERVER, attributes, under: { traceparent } }
      return spans.during(`ledger ${item.op}`, how, async (span) => {
        spanOf.set(item, span)
        const outcome = await decide()
        span.setAttributes(attributesOf(outcome))
        return outcome
      })
    },

    charged: (item, micro) => void spanOf.get(item)?.setAttribute('service.charged_micro', micro),

    batch: (run) => (batch, patient) => {
      const parts = [...batch.admissions, ...batch.closings].flatMap(({ item }) => spanOf.get(item) ?? [])
      if (parts.length === 0) return run(batch, patient)
      const how = {
        under: null,
        attributes: { 'service.batch.items': batch.admissions.length + batch.closings.length },
        links: parts.map((part) => ({ context: part.spanContext() })),
      }
      return spans.during('ledger batch', how, (span) => {
        for (const part of parts) part.addLink({ context: span.spanContext() })
        return run(batch, patient)
      })
    },

    operation:
      ({ name, begins }) =>
      (req, res, next) => {
        if (req.headers.traceparent === undefined && !begins) return next()
        void spans.during(`ledger ${name}`, { kind: SpanKind.SERVER, under: req.headers }, async (span) => {
          const ended = Promise.withResolvers<void>()
          res.once('close', ended.resolve)
          next()
          await ended.promise
          span.setAttribute('http.response.status_code', res.statusCode)
        })
      },
  }
}
