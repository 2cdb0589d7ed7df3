import { useEffect, useRef, useState } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useStore } from 'zustand'
import { useRunStore, shown, showNothing, type RunStore } from './run-store.ts'
import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { useScope } from '../../api/session.ts'
import { readingRevision } from '../data/use-opened-flow.ts'

/** Keeps the execution on the canvas and the one in the URL in sync. */
export function useShownExecution(sandbox: string) {
  const from = '/projects/$tenant/$project/flows/$sandbox'
  const { execution } = useSearch({ from })
  const navigate = useNavigate({ from })
  const run = useRunStore()
  const { error, show, showNone } = useShowExecution(sandbox, run)
  const onCanvas = useStore(run, ({ executionId }) => executionId)
  const asked = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (execution !== undefined && asked.current !== execution) show(execution)
    asked.current = execution
  }, [execution, show])
  useEffect(() => {
    if (onCanvas === null || asked.current === onCanvas) return
    asked.current = onCanvas
    // An open form stays open.
    void navigate({ search: { execution: onCanvas }, replace: true, ignoreBlocker: true })
  }, [onCanvas, navigate])
  return {
    error,
    isOpened: execution !== undefined,
    close: () => {
      showNone()
      void navigate({ search: {}, replace: true })
    },
    show: (chosen: string) => {
      asked.current = undefined
      if (chosen === execution) show(chosen)
      else void navigate({ search: { execution: chosen }, replace: true })
    },
  }
}

/** Shows an execution on the canvas of its flow: the final state, or the live progress. */
export function useShowExecution(sandbox: string, run: RunStore) {
  const scope = useScope()
  const left = useLeft()
  const client = useQueryClient()
  const [error, setError] = useState<unknown>(null)
  const latest = useRef('') // what was chosen before it may be read later
  async function show(id: string): Promise<void> {
    const { started } = run.getState()
    const isWanted = () => latest.current === id && run.getState().started === started
    const params = { ...scope, execution: id }
    const execution = await ask('GET', '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}', { params })
    if (execution.sandbox !== sandbox || !isWanted()) return
    run.setState({ opened: execution })
    const { graph } = await client.fetchQuery(readingRevision({ tenant: scope.tenant, sandbox }, execution.revision))
    if (!isWanted()) return
    if (execution.completedAt !== null) return run.setState(shown(execution, graph))
    const { followOnCanvas } = await import('./follow-execution.ts') // with the code that reads its lines
    if (isWanted()) await followOnCanvas(scope, run, id, graph, left.current)
  }
  return {
    error,
    show: (id: string) => {
      setError(null)
      latest.current = id
      void show(id).catch((failed: unknown) => latest.current === id && setError(failed))
    },
    showNone: () => {
      latest.current = ''
      showNothing(run)
    },
  }
}

/** Signal that is aborted when the component unmounts. */
function useLeft() {
  const left = useRef(new AbortController().signal)
  useEffect(() => {
    const controller = new AbortController()
    left.current = controller.signal
    return () => controller.abort()
  }, [])
  return left
}
