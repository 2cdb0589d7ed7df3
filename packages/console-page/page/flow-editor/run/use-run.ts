import { useState } from 'react'
import type { SandboxEstimate } from '@gateway/api/estimate'
import { ask } from '../../api/ask.ts'
import { useScope } from '../../api/use-project.ts'
import type { Base, useSaving } from '../data/use-saving.ts'
import { useSession } from '../session.ts'
import { executing, runningFrom } from './triggers.ts'
import type { Trigger } from './follow-execution.ts'
import { followOnCanvas } from './follow-on-canvas.ts'
import { useRunStore } from './run-store.ts'
import { stopExecution } from './stop-execution.ts'

export interface Asked {
  input: Record<string, unknown>
  /** Micro-USD, or null for no max cost. */
  maxMicro: number | null
}

/** Estimates, runs and stops executions of the graph on the canvas. Estimating and running save it first. */
export function useRun(saving: ReturnType<typeof useSaving>) {
  const scope = { ...useScope(), sandbox: saving.sandbox.id }
  const { editor } = useSession()
  const run = useRunStore()
  const [error, setError] = useState<unknown>(null)
  const [estimate, setEstimate] = useState<SandboxEstimate | null>(null)

  async function withSaved(work: (saved: Base) => Promise<void>): Promise<void> {
    setError(null)
    const saved = await saving.saved()
    if (saved) await work(saved).catch(setError)
  }
  const follow = (beginning: Trigger) => followOnCanvas(scope, run, beginning, editor.store.getState().graph)
  return {
    error,
    estimate,
    execute: (asked: Asked) => withSaved(({ number }) => follow(executing(scope, { ...asked, revision: number }))),
    /** Reruns the graph with the results of the shown execution, except for this node and its dependents. */
    runFrom: (node: string, maxMicro: number | null) =>
      withSaved(async ({ number }) => {
        const { executionId } = run.getState()
        const asked = { from: node, revision: number, maxMicro }
        if (executionId !== null) await follow(runningFrom(scope, executionId, asked))
      }),
    stop: () => stopExecution(scope, run.getState().executionId ?? '').catch(setError),
    askEstimate: ({ input }: Asked) =>
      withSaved(async ({ number }) =>
        setEstimate(
          await ask('POST', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/estimate', {
            params: scope,
            body: { input, revision: number },
          }),
        ),
      ),
  }
}
