import { useState } from 'react'
import type { RevisionRecord, SandboxRecord } from '@gateway/api/console/sandboxes'
import { CeilingField, ceilingOf } from '../../flow-editor/run/ceiling-field.tsx'
import { EstimateLabels } from '../../flow-editor/run/estimate-labels.tsx'
import { InputForm } from '../../flow-editor/run/input-form.tsx'
import { RunOutcome } from '../../flow-editor/run/run-outcome.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { FlowCodePart } from './flow-code-part.tsx'
import { FlowProgress } from './flow-progress.tsx'
import { useFlowRun } from './use-flow-run.ts'

/** Inputs of a flow, its cost estimate and its result. */
export function FlowRun({ flow, revision }: { flow: SandboxRecord; revision: RevisionRecord }) {
  const { state, error, estimate, execute, stop, askEstimate } = useFlowRun(flow.id, revision)
  const [input, setInput] = useState<Record<string, unknown>>({})
  const [typed, setTyped] = useState('')
  const maxMicro = ceilingOf(typed)
  const canRun = !state.isRunning && maxMicro !== undefined
  return (
    <div className="playground-flow">
      <form
        className="card stack"
        aria-label="Inputs"
        onSubmit={(event) => {
          event.preventDefault()
          void execute(input, maxMicro ?? null)
        }}
      >
        <InputForm side={revision.graph.input} values={input} onChange={setInput} />
        <CeilingField typed={typed} onChange={setTyped} />
        {estimate && <EstimateLabels of={estimate} />}
        <div className="buttons">
          <button type="submit" className="button main" disabled={!canRun}>
            {state.isRunning ? 'Running…' : 'Run'}
          </button>
          {state.isRunning && state.executionId !== null && (
            <button type="button" className="button danger" onClick={() => void stop()}>
              Stop
            </button>
          )}
          <button type="button" className="button" disabled={!canRun} onClick={() => void askEstimate(input)}>
            Estimate cost
          </button>
        </div>
        <RefusalBox error={error} />
      </form>
      <div className="stack">
        {state.graph && <FlowProgress of={state} />}
        {state.ended && (
          <div className="card">
            <RunOutcome execution={state.ended} />
          </div>
        )}
        <FlowCodePart flow={flow} revision={revision} input={input} maxMicro={maxMicro ?? null} />
      </div>
    </div>
  )
}
