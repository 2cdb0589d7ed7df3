import { SpanKind, type Attributes } from '@opentelemetry/api'
import type { Values } from '@gateway/api/execution'
import type { Admitted } from '@gateway/ledger-protocol/ledger-outcomes'
import { providerCost } from '@gateway/ledger-protocol/provider-cost'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { portFit } from '@gateway/flow/json-text'
import { withSpan } from '@gateway/service-kit/process/spans'
import { openTimingLog, type TimingLog } from '@gateway/providers/timing-log'
import { answerAttributes, callAttributes, contentAttributes } from '@gateway/providers/call-attributes'
import type { Deps } from '../deps.ts'
import type { PaidAnswer, PaidCall, PaidKind } from '../kinds/paid-kind.ts'
import type { Cancellation, Performed, Work } from '../work.ts'
import { admitNode } from './admit-node.ts'
import { explainFailure } from './explain-failure.ts'

// A paid node: prepare, admit, call.
//   P1  A failure before the provider responds is not charged: without usage the ledger releases the reservation.
//   P2  Once the provider has responded, the call is charged, whether the flow can use the response or not.

/** Rejects if the call could not be prepared or admitted, so before anything is called. */
export async function performPaidNode(
  deps: Deps,
  work: Work,
  kind: PaidKind,
  inputs: Values,
  cancellation: Cancellation,
): Promise<Performed> {
  return withSpan('paid call', { attributes: workAttributes(work) }, async (span) => {
    cancellation.watchExecution()
    const { signal } = cancellation
    const call = await kind.prepare(deps, work, inputs, signal)
    const admitted = await admitNode(deps, work, call, signal)
    const performed = await callProvider(deps, work, kind, call, admitted, signal)
    span.setAttributes(outcomeAttributes(performed))
    return performed
  })
}

async function callProvider(
  deps: Deps,
  work: Work,
  kind: PaidKind,
  call: PaidCall,
  admitted: Admitted,
  signal: AbortSignal,
): Promise<Performed> {
  const startedMs = deps.now()
  const remoteMs = () => deps.now() - startedMs
  const timing = openTimingLog(deps.now)
  try {
    const answer = await makeCall(deps, work, kind, call, admitted, signal, timing)
    const result = resultOf(deps, work, answer)
    capture(deps, work, call, admitted, { result, answer: () => answer.messages?.() ?? null })
    const { usage, route } = answer
    const cost = providerCost(admitted, route, usage)
    return { result, usage, remoteMs: answer.remoteMs ?? remoteMs(), timing: timing.read(), ...cost }
  } catch (error) {
    const result = explainFailure(deps, error, work)
    capture(deps, work, call, admitted, { result, answer: () => null })
    return { result, usage: null, remoteMs: remoteMs(), timing: timing.read() } // P1
  }
}

function capture(
  { captureNode }: Pick<Deps, 'captureNode'>,
  { claim: { project } }: Work,
  { request }: PaidCall,
  { invocation }: Admitted,
  { result, answer }: { result: Performed['result']; answer: () => string | null },
): void {
  if (request === null) return
  const failure = result.kind === 'failed' ? codeOf(result.error) : null
  captureNode({ project, invocation, request, answer, failure })
}

function makeCall(
  { traceContent }: Pick<Deps, 'traceContent'>,
  work: Work,
  { output }: PaidKind,
  { product, request, make }: PaidCall,
  admitted: Admitted,
  signal: AbortSignal,
  timing: TimingLog,
): Promise<PaidAnswer> {
  const { invocation } = admitted
  const operation = request ? 'chat' : 'generate_content'
  const maxTokens = request ? admitted.outputCap : null
  const attributes = {
    ...callAttributes({ operation, product, invocation, output, maxTokens }),
    ...workAttributes(work),
    ...(traceContent && request && contentAttributes('input', request.forwarded['messages'])),
  }
  return withSpan(`${operation} ${product}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const answer = await make(admitted, signal, timing)
    const { usage, finishReasons = [] } = answer
    span.setAttributes(answerAttributes({ product, invocation, usage: request ? usage : null, finishReasons }))
    if (traceContent) span.setAttributes(contentAttributes('output', outputOrNull(answer)))
    return answer
  })
}

/** P2 */
function resultOf(deps: Pick<Deps, 'log'>, work: Work, answer: PaidAnswer): Performed['result'] {
  try {
    const output = answer.output()
    refuseLargeValues(work.claim.node.id, output)
    return { kind: 'succeeded', output: JSON.stringify(output), ports: Object.keys(output) }
  } catch (error) {
    return explainFailure(deps, error, work)
  }
}

/**
 * A value on a port is at most 64 KB (flows §2.6).
 * @throws Refusal value_too_large
 */
function refuseLargeValues(node: string, output: Values): void {
  const limitBytes = flowLimits.portBytes
  for (const [port, value] of Object.entries(output))
    if (!portFit(value).ok)
      throw refuse('value_too_large', { node, port, limitBytes }, { details: { node, port, limitBytes } })
}

/** Returns the output of the response, or null if it is unusable. */
function outputOrNull({ output }: PaidAnswer): Values | null {
  try {
    return output()
  } catch {
    return null
  }
}

function workAttributes({ claim: { project, callId }, lease: { execution, node } }: Work): Attributes {
  return {
    'service.project': project,
    'service.execution': execution,
    'service.node': node,
    'service.invocation': callId,
  }
}

/** Span attributes for the outcome. */
export function outcomeAttributes({ result }: Performed): Attributes {
  if (result.kind !== 'failed') return { 'service.outcome': result.kind }
  return { 'service.outcome': result.kind, 'error.type': codeOf(result.error) }
}

/** Returns the code of a failed node's error. */
export function codeOf(error: string): string {
  return (JSON.parse(error) as { code?: string }).code ?? 'unknown'
}
