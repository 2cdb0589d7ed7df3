import type { Graph } from '@gateway/api/graph'
import { ask } from '../../api/ask.ts'
import { followExecution, type Trigger } from './follow-execution.ts'
import type { RunStore } from './run-store.ts'
import { begun, shown, applyLine } from './apply-line.ts'

/**
 * Shows the progress of an execution until another one is shown.
 * @param started execution ID, or the function that starts it
 * @throws ApiRefusal, Unreachable
 */
export async function followOnCanvas(
  place: Record<'tenant' | 'project', string>,
  run: RunStore,
  started: string | Trigger,
  graph: Graph,
): Promise<void> {
  let execution: string | null = null
  const isShown = () => run.getState().executionId === execution
  run.setState(begun(graph))
  try {
    for await (const line of followExecution(place, started)) {
      if (!isShown()) return
      if (line.kind === 'admitted') execution = line.executionId
      run.setState((before) => applyLine(before, line, graph))
    }
  } finally {
    if (isShown()) run.setState({ isRunning: false })
  }
  // The record in the progress stream lacks the inputs and attempts of the nodes.
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}'
  const whole = await ask('GET', path, { params: { ...place, execution: execution ?? '' } })
  if (isShown()) run.setState(shown(whole, graph))
}
