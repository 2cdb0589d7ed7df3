import { useState } from 'react'
import { useStore } from 'zustand'
import { RefusalBox } from '../../components/refusal-box.tsx'
import type { useSaving } from '../data/use-saving.ts'
import { useSelection, useSession } from '../session.ts'
import { CeilingField, ceilingOf } from './ceiling-field.tsx'
import { EstimateLabels } from './estimate-labels.tsx'
import { InputForm } from './input-form.tsx'
import { RunOutcome } from './run-outcome.tsx'
import { useRunStore } from './run-store.ts'
import { useRun } from './use-run.ts'

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
