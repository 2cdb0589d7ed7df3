import { SpanKind, type Attributes } from '@opentelemetry/api'
import type { Values } from '@gateway/api/execution'
import type { Admitted, RefusedItem } from '@gateway/ledger-protocol/ledger-outcomes'
import { providerCost } from '@gateway/ledger-protocol/provider-report'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { portFit } from '@gateway/flow/json-text'
import { withSpan, startSpan } from '@gateway/service-kit/process/spans'
import { openTimingLog, type TimingLog } from '@gateway/providers/timing-log'
import { answerAttributes, callAttributes, contentAttributes } from '@gateway/providers/call-attributes'
import type { Deps } from '../deps.ts'
import type { PaidAnswer, PaidCall, PaidKind } from '../kinds/paid-kind.ts'
import { type Cancellation, type Performed, type Work, LeaseLost } from '../work.ts'
import { explainFailure } from './explain-failure.ts'
import type { AdmitNodeItem } from '@gateway/ledger-protocol/flow-items'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { ADMISSION_MS, openAdmission } from '@gateway/ledger-client/instance'
import { nullIfUnavailable, pause } from '../retry.ts'

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

// Asks the ledger to reserve the max cost of a node's call.
//   A1  The request carries the ID of this attempt and may be repeated: the ledger reserves once.
//   A2  If the bound by bytes alone would be refused, the tokens are counted once, as for a direct call (money §2.4),
//       even if the call fits only once others have settled (A3). If counting is not possible now, the node waits and
//       retries.
//   A3  A call that does not fit only because of other reservations is retried for half a minute, until those calls end
//       and release them. So siblings run in sequence if the wallet or ceiling can't cover them together.
//   A4  An unreachable ledger is retried until the deadline of the execution.

type AdmitDeps = Pick<Deps, 'ledger' | 'countExactly' | 'metrics' | 'now'>

/** Rejects with the ledger's Refusal, with LeaseLost, or with the signal's reason. */
async function admitNode(deps: AdmitDeps, work: Work, call: PaidCall, signal: AbortSignal): Promise<Admitted> {
  const startedMs = deps.now()
  const waitedMs = () => deps.now() - startedMs
  let waited = false
  const admit = openAdmission({
    ask: (counted) =>
      nullIfUnavailable(() => deps.ledger.admitNode(itemOf(work, call, counted), { budgetMs: ADMISSION_MS })),
    count: async (refused) => {
      if (!call.request) return { kind: 'stands' }
      return deps.countExactly({ payer: work.claim.project, request: call.request }, refused)
    },
  })
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted()
    const outcome = await admit()
    switch (outcome?.kind) {
      case undefined: // A4
      case 'uncounted': // A2
        break
      case 'admitted':
        if (waited) recordWait(deps, 'admitted', waitedMs())
        return outcome
      case 'fenced':
      case 'instance-unknown':
        throw new LeaseLost(outcome.kind)
      case 'refused':
        if (!fitsLater(outcome) || waitedMs() >= flowLimits.fundsWaitMs) {
          if (waited) recordWait(deps, 'refused', waitedMs())
          throw refusalFor(outcome, 'node')
        }
        waited = true // A3
    }
    await pause(tries, signal)
  }
}

function itemOf(
  { claim, lease }: Work,
  { product, parameters, promptSize }: PaidCall,
  counted: number | null,
): Omit<AdmitNodeItem, 'op'> {
  return {
    ...lease,
    id: claim.callReservation, // A1
    model: product,
    parameters,
    promptSize: { ...promptSize, counted },
  }
}

/** Whether the call would fit without other reservations (A3). */
function fitsLater({ code, facts }: RefusedItem): boolean {
  if (code === 'insufficient_budget')
    return facts.reservedMicro > 0 && facts.availableMicro + facts.reservedMicro >= facts.neededMicro
  if (code === 'key_limit' || code === 'budget_reached')
    return facts.reservedMicro > 0 && facts.spentMicro + facts.neededMicro <= facts.limitMicro
  if (code === 'ceiling_reached')
    return facts.reservedMicro > 0 && facts.chargedMicro + facts.neededMicro <= facts.maxMicro
  return false
}

/** Records a finished wait for funds as a metric and as a span. */
function recordWait({ metrics }: Pick<Deps, 'metrics'>, outcome: 'admitted' | 'refused', ms: number): void {
  startSpan('wait for money', { attributes: { 'service.outcome': outcome }, startTime: Date.now() - ms }).end()
  metrics.waitedForFunds(outcome, ms)
}
