import { useState } from 'react'
import { useStore } from 'zustand'
import type { SandboxEstimate } from '@gateway/api/estimate'
import type { RevisionRecord } from '@gateway/api/console/sandboxes'
import { ask } from '../../api/ask.ts'
import { useScope } from '../../api/use-project.ts'
import { executing } from '../../flow-editor/run/triggers.ts'
import { followOnCanvas } from '../../flow-editor/run/follow-on-canvas.ts'
import { openRun } from '../../flow-editor/run/run-store.ts'
import { stopExecution } from '../../flow-editor/run/stop-execution.ts'

/** Executes a saved revision of a flow and follows its progress. */
export function useFlowRun(sandbox: string, { number, graph }: RevisionRecord) {
  const scope = { ...useScope(), sandbox }
  const [store] = useState(openRun)
  const [error, setError] = useState<unknown>(null)
  const [estimate, setEstimate] = useState<SandboxEstimate | null>(null)
  const state = useStore(store)

  async function attempt(work: () => Promise<void>): Promise<void> {
    setError(null)
    await work().catch(setError)
  }
  return {
    state,
    error,
    estimate,
    /** @param maxMicro max cost in micro-USD, or null for none */
    execute: (input: Record<string, unknown>, maxMicro: number | null) =>
      attempt(() => followOnCanvas(scope, store, executing(scope, { input, maxMicro, revision: number }), graph)),
    stop: () => attempt(() => stopExecution(scope, state.executionId ?? '')),
    askEstimate: (input: Record<string, unknown>) =>
      attempt(async () => {
        const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/estimate'
        setEstimate(await ask('POST', path, { params: scope, body: { input, revision: number } }))
      }),
  }
}
