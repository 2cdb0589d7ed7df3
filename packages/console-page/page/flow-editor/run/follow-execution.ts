import { followLines, type Following } from '@gateway/api-client/follow-lines'
import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import { raw, ask } from '../../api/ask.ts'
import type { Graph } from '@gateway/api/graph'
import { begun, shown, applyLine, type RunStore } from './run-store.ts'
import { newIdempotencyKey } from '../../api/queries.ts'
import { announceQuietly } from '../../frame/announcer.ts'
import { usd } from '../../components/usd.ts'

type ProjectScope = Record<'tenant' | 'project', string>
/** Starts an execution. Idempotent: repeated calls start it once. */
export type Trigger = NonNullable<Following['begin']>

/**
 * Yields each progress line of an execution once and in order. Reconnects after lost connections.
 * @param started execution ID, or the function that starts it
 * @throws ApiRefusal; Unreachable if the service does not respond for two minutes
 */
function followExecution(
  { tenant, project }: ProjectScope,
  started: string | Trigger,
  signal: AbortSignal,
): AsyncGenerator<ProgressLine, void, undefined> {
  return followLines({
    signal,
    ...(typeof started === 'string' ? { begin: null, execution: started } : { begin: started }),
    goOn: (execution, after, fields) =>
      raw('GET', '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/progress', {
        params: { tenant, project, execution },
        query: { after },
        ...fields,
      }),
  })
}

/**
 * Shows the progress of an execution until another one is shown, and announces its end. If it cannot be started, the
 * one before it is shown again.
 * @param started execution ID, or the function that starts it
 * @param left aborted when the progress is no longer shown; an execution that is being started still gets its ID
 * @throws ApiRefusal, Unreachable
 */
export async function followOnCanvas(
  place: Record<'tenant' | 'project', string>,
  run: RunStore,
  started: string | Trigger,
  graph: Graph,
  left?: AbortSignal,
): Promise<void> {
  if (left?.aborted) return
  let execution = typeof started === 'string' ? started : null
  const cut = new AbortController()
  const leave = () => execution !== null && cut.abort()
  left?.addEventListener('abort', leave)
  const isShown = () => run.getState().executionId === execution
  const { started: count, taken: _, opened, ...before } = run.getState()
  run.setState(
    execution === null ? { ...begun(graph), started: count + 1 } : { ...begun(graph), executionId: execution },
  )
  try {
    for await (const line of followExecution(place, started, cut.signal)) {
      if (!isShown()) return
      if (line.kind === 'admitted') {
        // Until then, the form keeps the inputs of the opened one: it shows them again after a refusal.
        if (execution === null && run.getState().opened === opened) run.setState({ opened: null })
        execution = line.executionId
      }
      run.setState((before) => applyLine(before, line, graph))
      if (left?.aborted) return
      if (line.kind === 'complete') announceQuietly(endText(line.execution))
    }
  } catch (error) {
    if (left?.aborted) return
    if (execution === null && isShown()) run.setState(before)
    throw error
  } finally {
    left?.removeEventListener('abort', leave)
    if (isShown()) run.setState({ isRunning: false })
  }
  // The record in the progress stream lacks the inputs and attempts of the nodes.
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}'
  const whole = await ask('GET', path, { params: { ...place, execution: execution ?? '' } })
  if (isShown()) run.setState(shown(whole, graph))
}

function endText({ status, chargedMicro, error }: ExecutionRecord): string {
  return `Execution ${status.toLowerCase()}, charged ${usd(chargedMicro)}. ${error?.message ?? ''}`
}

type FlowScope = Record<'tenant' | 'project' | 'sandbox', string>

/** Starts an execution of a saved revision. @param body `maxMicro` in micro-USD, or null for no max cost */
export function executing(
  { tenant, sandbox }: FlowScope,
  body: { input: Record<string, unknown>; revision: number; maxMicro: number | null },
): Trigger {
  const idempotencyKey = newIdempotencyKey()
  const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/execute'
  return (fields) => raw('POST', path, { params: { tenant, sandbox }, body, idempotencyKey, ...fields })
}

/** Starts a rerun that reuses the results of an earlier execution, except for a node and its dependents. */
export function runningFrom(
  { tenant, project }: FlowScope,
  execution: string,
  body: { from: string; revision: number; maxMicro: number | null },
): Trigger {
  const idempotencyKey = newIdempotencyKey()
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/rerun'
  return (fields) => raw('POST', path, { params: { tenant, project, execution }, body, idempotencyKey, ...fields })
}

/** Stops an execution: running calls are aborted, and no further node starts. @throws ApiRefusal, Unreachable */
export async function stopExecution(
  { tenant, project }: Record<'tenant' | 'project', string>,
  execution: string,
): Promise<void> {
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/cancel'
  await ask('POST', path, { params: { tenant, project, execution } })
}
