import { useState } from 'react'
import { useStore } from 'zustand'
import { RefusalBox } from '../../components/refusal-box.tsx'
import type { useSaving, Base } from '../data/use-saving.ts'
import { useSelection, useSession } from '../state/open-editor.ts'
import { CeilingField, ceilingOf, RunOutcome, EstimateLabels } from './run-outcome.tsx'
import { InputForm } from './input-form.tsx'
import { useRunStore } from './run-store.ts'
import type { SandboxEstimate } from '@gateway/api/estimate'
import { ask } from '../../api/ask.ts'
import { useScope } from '../../api/session.ts'
import { executing, runningFrom, followOnCanvas, type Trigger, stopExecution } from './follow-execution.ts'

/** Saves and executes the graph on the canvas. The nodes show their progress. */
export function RunPanel({ saving }: { saving: ReturnType<typeof useSaving> }) {
  const { model } = useSession()
  const { selectedNodes } = useSelection()
  const state = useStore(useRunStore())
  const { error, estimate, execute, runFrom, stop, askEstimate } = useRun(saving)
  const [input, setInput] = useState<Record<string, unknown>>({})
  const [typed, setTyped] = useState('')
  const maxMicro = ceilingOf(typed)
  const canRun = model.problems.length === 0 && !state.isRunning && saving.doing === null && maxMicro !== undefined
  const [from] = selectedNodes.size === 1 ? selectedNodes : []
  const asked = { input, maxMicro: maxMicro ?? null }
  return (
    <div className="run-panel">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void execute(asked)
        }}
      >
        <InputForm side={model.graph.input} values={input} onChange={setInput} />
        <CeilingField typed={typed} onChange={setTyped} />
        <div className="buttons">
          <button type="submit" className="button small main" disabled={!canRun}>
            {state.isRunning ? 'Running…' : 'Run'}
          </button>
          {state.isRunning && state.executionId !== null && (
            <button type="button" className="button small danger" onClick={() => void stop()}>
              Stop
            </button>
          )}
          {state.ended && from !== undefined && (
            <button
              type="button"
              className="button small"
              disabled={!canRun}
              onClick={() => void runFrom(from, asked.maxMicro)}
            >
              Run from {from}
            </button>
          )}
          <button type="button" className="button small" disabled={!canRun} onClick={() => void askEstimate(asked)}>
            What would it cost?
          </button>
          {model.problems.length > 0 && <span className="soft small">Fix all problems to run.</span>}
        </div>
      </form>
      <div className="stack">
        <RefusalBox error={error} />
        {estimate && <EstimateLabels of={estimate} />}
        {state.ended && <RunOutcome execution={state.ended} />}
      </div>
    </div>
  )
}

interface Asked {
  input: Record<string, unknown>
  /** Micro-USD, or null for no max cost. */
  maxMicro: number | null
}

/** Estimates, runs and stops executions of the graph on the canvas. Estimating and running save it first. */
function useRun(saving: ReturnType<typeof useSaving>) {
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
