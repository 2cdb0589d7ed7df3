import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { useScope } from '../../api/use-project.ts'
import { readingRevision } from '../data/use-opened-flow.ts'
import { followOnCanvas } from './follow-on-canvas.ts'
import { useRunStore } from './run-store.ts'
import { shown } from './apply-line.ts'

/** Shows an execution on the canvas of its flow: the final state, or the live progress. */
export function useShowExecution(sandbox: string) {
  const scope = useScope()
  const run = useRunStore()
  const client = useQueryClient()
  const [error, setError] = useState<unknown>(null)
  async function show(id: string): Promise<void> {
    const params = { ...scope, execution: id }
    const execution = await ask('GET', '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}', { params })
    if (execution.sandbox !== sandbox) return
    const { graph } = await client.fetchQuery(readingRevision({ tenant: scope.tenant, sandbox }, execution.revision))
    if (execution.completedAt !== null) return run.setState(shown(execution, graph))
    await followOnCanvas(scope, run, id, graph)
  }
  return {
    error,
    show: (id: string) => {
      setError(null)
      void show(id).catch(setError)
    },
  }
}
