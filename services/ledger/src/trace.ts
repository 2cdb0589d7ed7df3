import { SpanKind, trace, type Span } from '@opentelemetry/api'
import type { RequestHandler } from 'express'
import type { StartAnswer, StartQuestion } from '@gateway/contracts/flow-reads'
import type { LedgerItem } from '@gateway/contracts/ledger-items'
import type { OperationSpan } from '@gateway/contracts/ledger-operations'
import { attributesOf, RESERVATION } from '@gateway/ledger-client/client-span'
import { activeCarrier, type Spans } from '@gateway/process/spans'
import type { RunBatch } from './batch/run-batch.ts'

// The ledger in other processes' traces. All of it exists only where there is a collector.
//   T1  An item is a part of whoever asked for it: its line names the span. One whose caller isn't traced has none, and so have the
//       maintenance jobs' own items.
//   T2  A batch decides items of many traces, so it is a part of none of them: it has a trace of its own, and it and its items are
//       linked with each other.
//   T3  A run is kept with the span that began it, so that whoever runs its nodes, at whatever attempt, goes on in that trace. Who
//       begins a run untraced gets a trace here.

export interface LedgerTrace {
  /** T1 */
  item<Outcome extends object>(item: LedgerItem, asker: string, decide: () => Promise<Outcome>): Promise<Outcome>
  /** An item's span is told what was charged, in micro-USD. */
  charged(item: object, micro: number): void
  /** T2 */
  batch(run: RunBatch): RunBatch
  /** An operation, in a request of its own. */
  operation(span: OperationSpan): RequestHandler
  /** T3 */
  start(start: (question: StartQuestion) => Promise<StartAnswer>): (question: StartQuestion) => Promise<StartAnswer>
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

    start: (start) => async (question) => {
      const answer = await start({ ...question, trace: question.trace ?? activeCarrier() })
      trace.getActiveSpan()?.setAttributes(attributesOf(answer))
      return answer
    },
  }
}
