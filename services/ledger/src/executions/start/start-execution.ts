import { trace } from '@opentelemetry/api'
import type { StartAnswer, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import { attributesOf } from '@gateway/ledger-client/span-attributes'
import { activeCarrier } from '@gateway/service-kit/process/spans'
import type { Deps } from '../../deps.ts'

/** Starts an execution. It is stored with the trace of its caller, or with the current span here (T3 of spans.ts). */
export async function startExecution(
  { startBatcher }: Pick<Deps, 'startBatcher'>,
  question: StartQuestion,
): Promise<StartAnswer> {
  const answer = await startBatcher.submit({ ...question, trace: question.trace ?? activeCarrier() })
  trace.getActiveSpan()?.setAttributes(attributesOf(answer))
  return answer
}
