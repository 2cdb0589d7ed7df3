import { SpanKind, trace } from '@opentelemetry/api'
import { answerAttributes, callAttributes, contentAttributes } from '@gateway/tokens/call-attributes'
import type { Spans } from '@gateway/process/spans'
import type { PaidCall, PaidKind } from './kinds/paid-kind.ts'
import type { Metrics } from './metrics.ts'
import type { PerformPaid } from './perform/paid-node.ts'
import type { Perform, Performed } from './perform/perform.ts'
import type { Work } from './run/run-node.ts'

// The work on a node in spans, below that of its job: a paid call, in it the wait for money and the call to the provider. Each
// wrapper is what it was given where there is no collector.

/** Says of a job's span what the claim told of the node, and how it ended. */
export function tracedPerform(spans: Spans | null, perform: Perform): Perform {
  if (spans === null) return perform
  return async (work, ending) => {
    const { node, project, callId } = work.claim
    const span = trace.getActiveSpan()
    span?.setAttributes({
      'service.project': project,
      'service.node.kind': node.kind,
      ...(callId !== '' && { 'service.invocation': callId }),
    })
    const performed = await perform(work, ending)
    span?.setAttributes(endOf(performed))
    return performed
  }
}

/** @param withContent whether prompt and answer get into the trace */
export function tracedPaid(spans: Spans | null, performPaid: PerformPaid, withContent: boolean): PerformPaid {
  if (spans === null) return performPaid
  return (work, kind, inputs, ending) =>
    spans.during('paid call', { attributes: whose(work) }, async (span) => {
      const performed = await performPaid(work, tracedKind(spans, kind, withContent), inputs, ending)
      span.setAttributes(endOf(performed))
      return performed
    })
}

function tracedKind(spans: Spans, kind: PaidKind, withContent: boolean): PaidKind {
  return async (work, inputs, signal) => {
    const call = await kind(work, inputs, signal)
    return { ...call, make: tracedMake(spans, work, call, withContent) }
  }
}

function tracedMake(spans: Spans, work: Work, call: PaidCall, withContent: boolean): PaidCall['make'] {
  return (admitted, signal) => {
    const { product, request } = call
    const { invocation } = admitted
    const operation = request ? 'chat' : 'generate_content'
    const attributes = {
      ...callAttributes({
        operation,
        product,
        invocation,
        output: OUTPUTS[work.claim.node.kind] ?? 'text',
        maxTokens: request ? admitted.outputCap : null,
      }),
      ...whose(work),
      ...(withContent && request && contentAttributes('input', request.forwarded['messages'])),
    }
    return spans.during(`${operation} ${product}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const answer = await call.make(admitted, signal)
      const { usage, finishReasons = [] } = answer
      span.setAttributes(answerAttributes({ product, invocation, usage: request ? usage : null, finishReasons }))
      if (withContent) span.setAttributes(contentAttributes('output', outputOf(answer)))
      return answer
    })
  }
}

const OUTPUTS: Record<string, 'image' | 'speech'> = { 'product.image': 'image', 'product.audio': 'speech' }

/** What the answer makes, or nothing where it makes none. */
function outputOf({ output }: Awaited<ReturnType<PaidCall['make']>>): unknown {
  try {
    return output()
  } catch {
    return null
  }
}

/** Tells of a wait for money, once it is over, also in a span. */
export function tracedWait(spans: Spans | null, metrics: Metrics): Metrics {
  if (spans === null) return metrics
  return {
    ...metrics,
    waitedForFunds(how, ms) {
      const attributes = { 'service.outcome': how }
      spans.start('wait for money', { attributes, startTime: Date.now() - ms }).end()
      metrics.waitedForFunds(how, ms)
    },
  }
}

function whose({ claim: { project, callId }, lease: { execution, node } }: Work) {
  return {
    'service.project': project,
    'service.execution': execution,
    'service.node': node,
    'service.invocation': callId,
  }
}

function endOf({ result }: Performed) {
  if (result.kind !== 'failed') return { 'service.outcome': result.kind }
  const { code } = JSON.parse(result.error) as { code?: string }
  return { 'service.outcome': result.kind, 'error.type': code ?? 'unknown' }
}
