import type { IncomingHttpHeaders } from 'node:http'
import { context, createContextKey, SpanKind, type Attributes, type Span } from '@opentelemetry/api'
import { Refusal } from '@gateway/contracts/refusal'
import type { Spans } from '@gateway/process/spans'
import type { AdmitCall } from './admit/admit-call.ts'
import type { StartExecution } from './run/start-run.ts'

/** Runs a stage of a call in a span of its own. Without a collector it only calls it. */
export interface Trace {
  <T>(stage: string, work: () => Promise<T>): Promise<T>
  /** The first stage: a child of the caller's own span where his `traceparent` names one (W3C Trace Context). */
  received<T>(headers: IncomingHttpHeaders, stage: string, work: () => Promise<T>): Promise<T>
  /** Says something of the whole call, at whichever stage it is known. */
  note(attributes: Attributes): void
}

const CALL = createContextKey('the span of the call that was received')

export function tracedBy(spans: Spans | null): Trace {
  if (spans === null) {
    return Object.assign(<T>(_stage: string, work: () => Promise<T>) => work(), {
      received: <T>(_headers: IncomingHttpHeaders, _stage: string, work: () => Promise<T>) => work(),
      note() {},
    })
  }
  return Object.assign(<T>(stage: string, work: () => Promise<T>) => spans.during(stage, {}, work), {
    received<T>(headers: IncomingHttpHeaders, stage: string, work: () => Promise<T>) {
      const [method = '', route = ''] = stage.split(' ')
      const attributes = { 'http.request.method': method, 'http.route': route }
      return spans.during(stage, { kind: SpanKind.SERVER, attributes, under: headers }, (span) =>
        context.with(context.active().setValue(CALL, span), async () => {
          try {
            return await work()
          } catch (error) {
            if (error instanceof Refusal) span.setAttribute('http.response.status_code', error.status)
            throw error
          }
        }),
      )
    },
    note: (attributes: Attributes) =>
      void (context.active().getValue(CALL) as Span | undefined)?.setAttributes(attributes),
  })
}

/** Says of a call which invocation it has become, and whose it is. Without a trace as it was given. */
export function tracedAdmission(trace: Pick<Trace, 'note'> | null, admit: AdmitCall): AdmitCall {
  if (trace === null) return admit
  const { note } = trace
  return async (chat, caller) => {
    const entrance = await admit(chat, caller)
    note({ 'service.invocation': entrance.invocation, 'gen_ai.request.model': chat.request.model })
    if (entrance.kind === 'admitted') note({ 'service.project': entrance.project })
    else note({ 'service.replayed': true })
    return entrance
  }
}

/** Says of a call which run it has begun, or found. Without a trace as it was given. */
export function tracedStart(trace: Pick<Trace, 'note'> | null, start: StartExecution): StartExecution {
  if (trace === null) return start
  const { note } = trace
  return async (asked, caller, topicOf) => {
    const execution = await start(asked, caller, topicOf)
    note({
      'service.invocation': execution.execution,
      'service.execution': execution.execution,
      'service.project': execution.project,
      'service.sandbox': execution.sandbox,
      ...(execution.replayed && { 'service.replayed': true }),
    })
    return execution
  }
}
