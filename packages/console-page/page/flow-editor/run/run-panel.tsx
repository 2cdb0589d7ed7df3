import { useState } from 'react'
import { useStore } from 'zustand'
import { ask } from '../../api/ask.ts'
import { usePlace } from '../../api/use-project.ts'
import { RefusalBox } from '../../parts/refusal-box.tsx'
import type { useSaving } from '../data/use-saving.ts'
import { useSession } from '../session.ts'
import { followExecution } from './follow-execution.ts'
import { InputForm } from './input-form.tsx'
import { RunOutcome } from './run-outcome.tsx'
import { useRunStore } from './run-store.ts'
import { begun, takeLine } from './take-line.ts'

/** Executes what is on the canvas, saved first; nodes show how they do. */
export function RunPanel({ saving }: { saving: ReturnType<typeof useSaving> }) {
  const place = usePlace()
  const { model, editor } = useSession()
  const run = useRunStore()
  const state = useStore(run)
  const [input, setInput] = useState<Record<string, unknown>>({})
  const [error, setError] = useState<unknown>(null)
  const canRun = model.problems.length === 0 && !state.isRunning && saving.doing === null

  async function execute(): Promise<void> {
    setError(null)
    const saved = await saving.saved()
    if (!saved) return
    const { graph } = editor.store.getState()
    run.setState(begun(graph))
    try {
      const body = { input, revision: saved.number }
      await followExecution({ ...place, sandbox: saving.sandbox.id }, body, (line) =>
        run.setState((before) => takeLine(before, line, graph)),
      )
    } catch (error) {
      setError(error)
    } finally {
      run.setState({ isRunning: false })
    }
  }
  const stop = () =>
    ask('POST', '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/cancel', {
      params: { ...place, execution: state.executionId ?? '' },
    }).catch(setError)

  return (
    <div className="run-panel">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void execute()
        }}
      >
        <InputForm side={model.graph.input} values={input} onChange={setInput} />
        <div className="buttons">
          <button type="submit" className="button small main" disabled={!canRun}>
            {state.isRunning ? 'Running…' : 'Run'}
          </button>
          {state.isRunning && state.executionId !== null && (
            <button type="button" className="button small danger" onClick={() => void stop()}>
              Stop
            </button>
          )}
          {model.problems.length > 0 && <span className="soft small">What has problems cannot run.</span>}
        </div>
      </form>
      <div className="stack">
        <RefusalBox error={error} />
        {state.ended && <RunOutcome execution={state.ended} />}
      </div>
    </div>
  )
}
