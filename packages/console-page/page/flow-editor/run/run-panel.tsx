import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import type { SandboxEstimate } from '@gateway/api/estimate'
import type { Graph } from '@gateway/api/graph'
import { sameJson } from '@gateway/flow/compare/graph-units'
import { ask } from '../../api/ask.ts'
import { useScope } from '../../api/session.ts'
import { FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { SelectField } from '../../components/select.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { usd } from '../../components/usd.ts'
import { announce } from '../../frame/announcer.ts'
import { fittingValues, valuesToType, type RunInputs } from '../data/run-inputs.ts'
import { useKeptInputs } from '../data/use-kept-inputs.ts'
import type { useSaving } from '../data/use-saving.ts'
import { useSelection, useSession, type Base } from '../state/open-editor.ts'
import { executing, followOnCanvas, runningFrom, stopExecution, type Trigger } from './follow-execution.ts'
import { InputForm, useUnread } from './input-form.tsx'
import { CeilingField, ceilingOf, EstimateLabels, RunOutcome } from './run-outcome.tsx'
import { useRunStore } from './run-store.ts'

/** Saves and executes the graph on the canvas. The nodes show their progress. */
export function RunPanel({ saving }: { saving: ReturnType<typeof useSaving> }) {
  const { model } = useSession()
  const { selectedNodes } = useSelection()
  const state = useStore(useRunStore())
  const { error, estimate, execute, runFrom, stop, askEstimate } = useRun(saving)
  const { inputs, last, source, change, changeLast } = useRunInputs(saving.sandbox.id)
  const input = fittingValues(last, model.graph.input)
  const { hasUnread, heldOf } = useUnread(model.graph.input, source, () => changeLast((typed) => typed))
  const maxMicro = ceilingOf(inputs.maxCost)
  const isReadable = maxMicro !== undefined && !hasUnread
  const isReady = model.problems.length === 0 && isReadable
  const isBusy = state.isRunning || saving.doing !== null
  const canRun = isReady && !isBusy
  /** Takes the focus of the button that raises the max cost. */
  const runButton = useRef<HTMLButtonElement>(null)
  /** While busy, a button keeps the focus, which a disabled one loses. */
  const off = { disabled: !isReady, 'aria-disabled': isBusy }
  const [from] = selectedNodes.size === 1 ? selectedNodes : []
  const asked = { input, maxMicro: maxMicro ?? null }
  const outcome = useShownOutcome(state.ended?.id)
  return (
    <div className="run-panel">
      <div className="stack">
        <InputSets inputs={inputs} input={input} change={change} />
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            if (canRun) void execute(asked)
          }}
        >
          <InputForm key={source} side={model.graph.input} values={input} heldOf={heldOf} onChange={changeLast} />
          <CeilingField typed={inputs.maxCost} onChange={(maxCost) => change({ maxCost })} />
          <div className="buttons">
            <button ref={runButton} type="submit" className="button small main" {...off}>
              {state.isRunning ? 'Running…' : 'Run'}
            </button>
            {state.isRunning && state.executionId !== null && (
              <button
                type="button"
                className="button small danger"
                onClick={() => {
                  outcome.current?.focus() // on Run, another Enter would start the next execution
                  void stop()
                }}
              >
                Stop
              </button>
            )}
            {(state.ended || state.isRunning) && from !== undefined && (
              <button
                type="button"
                className="button small"
                {...off}
                onClick={() => canRun && void runFrom(from, asked.maxMicro)}
              >
                Run from {from}
              </button>
            )}
            <button type="button" className="button small" {...off} onClick={() => canRun && void askEstimate(asked)}>
              What would it cost?
            </button>
            {model.problems.length > 0 && <span className="soft small">Fix all problems to run.</span>}
          </div>
        </form>
      </div>
      <div className="stack" role="group" aria-label="Outcome" tabIndex={-1} ref={outcome}>
        <RefusalBox error={error} />
        {estimate && sameJson([estimate.graph, estimate.input], [model.graph, input]) && (
          <EstimateLabels of={estimate.made} />
        )}
        {state.ended && (
          <RunOutcome
            execution={state.ended}
            onRaise={
              canRun
                ? (neededMicro) => {
                    runButton.current?.focus()
                    change({ maxCost: usd(neededMicro).replaceAll(/[$,]/g, '') })
                    void execute({ input, maxMicro: neededMicro })
                  }
                : null
            }
          />
        )}
      </div>
    </div>
  )
}

/** Brings the result into view when an execution ends while the panel is open. */
function useShownOutcome(ended: string | undefined) {
  const element = useRef<HTMLDivElement>(null)
  const before = useRef(ended)
  useEffect(() => {
    if (ended !== undefined && before.current !== ended)
      element.current?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
    before.current = ended
  }, [ended])
  return element
}

/**
 * Inputs of the flow, kept in this browser. An opened execution shows its inputs instead, until they are changed or
 * taken over. `source` changes with everything that replaces the inputs, except typing. An upload changes the inputs
 * of the form that it was started in, if they are still there: their `source` is the same.
 */
function useRunInputs(sandbox: string) {
  const run = useRunStore()
  const { inputs, now, keep } = useKeptInputs(sandbox)
  const { opened, taken } = useStore(run)
  const [ownFor, setOwnFor] = useState<string | null>(null)
  const lent =
    opened?.input && ownFor !== opened.id
      ? { last: valuesToType(opened.input), source: `${inputs.source} ${opened.id}` }
      : null
  const latestLent = useRef(lent)
  useLayoutEffect(() => {
    latestLent.current = lent
    return () => void (latestLent.current = null) // an upload that ends later finds its form gone
  })
  const { last, source } = lent ?? inputs
  const change = (changed: Partial<RunInputs>, isReplaced = false): boolean => {
    if (!changed.last) return keep(changed)
    const shown = latestLent.current ?? now()
    latestLent.current = null
    setOwnFor(run.getState().opened?.id ?? null)
    return keep({ ...changed, source: isReplaced ? `${now().source}+` : shown.source })
  }
  const changeLast = (of: (before: RunInputs['last']) => RunInputs['last']) => {
    const shown = latestLent.current ?? now()
    if (shown.source === source) change({ last: of(shown.last) })
    else if (now().source === source) keep({ last: of(now().last) })
  }
  useEffect(() => {
    if (!taken) return
    run.setState({ taken: null })
    change({ last: taken }, true)
    // oxlint-disable-next-line react/exhaustive-deps -- once for each that is taken
  }, [taken])
  return { inputs, last, source, change, changeLast }
}

type SetTask = 'save' | 'rename' | 'delete'

/** Named sets of inputs: chosen, saved, renamed and deleted. */
function InputSets({
  inputs: { sets },
  input,
  change,
}: {
  inputs: RunInputs
  input: Record<string, unknown>
  change: (changed: Partial<RunInputs>, isReplaced?: boolean) => boolean
}) {
  const [chosen, setChosen] = useState('')
  const [task, setTask] = useState<SetTask | null>(null)
  const [unsaved, setUnsaved] = useState(input)
  const of = sets.find(({ name }) => name === chosen)
  const isChosen = of !== undefined
  return (
    <div className="input-sets">
      {sets.length > 0 && (
        <SelectField
          label="Test inputs"
          value={isChosen ? chosen : ''}
          options={[['', 'Unsaved inputs'], ...sets.map(({ name }) => [name, name] as const)]}
          onChange={(next) => {
            const own = of && sameJson(of.values, input) ? unsaved : input
            setUnsaved(own)
            setChosen(next)
            change({ last: sets.find(({ name }) => name === next)?.values ?? own }, true)
          }}
        />
      )}
      <div className="buttons">
        <button type="button" className="button small quiet" onClick={() => setTask('save')}>
          Save inputs
        </button>
        {isChosen && (
          <>
            <button type="button" className="button small quiet" onClick={() => setTask('rename')}>
              Rename
            </button>
            <button type="button" className="button small quiet" onClick={() => setTask('delete')}>
              Delete
            </button>
          </>
        )}
      </div>
      {task && (
        <SetDialog
          key={task}
          task={task}
          chosen={isChosen ? chosen : ''}
          names={sets.map(({ name }) => name)}
          onDone={(name) => {
            const others = sets.filter((set) => set.name !== name && set.name !== chosen)
            const kept = task === 'save' ? sets.filter((set) => set.name !== name) : others
            const values = task === 'save' ? input : sets.find((set) => set.name === chosen)!.values
            const next = task === 'delete' ? others : [...kept, { name, values }]
            const isKept = change({ sets: next.toSorted((a, b) => a.name.localeCompare(b.name)) })
            announce(
              isKept
                ? said[task](name)
                : 'Not saved: this browser keeps up to 50 test inputs of a flow, 256 KB together. Delete one first.',
            )
            setChosen(task === 'delete' ? '' : name)
            setTask(null)
          }}
          onClose={() => setTask(null)}
        />
      )}
    </div>
  )
}

const titles = { save: 'Save inputs', rename: 'Rename inputs', delete: 'Delete inputs' }
const said: Record<SetTask, (name: string) => string> = {
  save: (name) => `Inputs saved as ${name}.`,
  rename: (name) => `Inputs renamed to ${name}.`,
  delete: (name) => `Inputs ${name} deleted.`,
}

function SetDialog({
  task,
  chosen,
  names,
  onDone,
  onClose,
}: {
  task: SetTask
  chosen: string
  names: string[]
  onDone: (name: string) => void
  onClose: () => void
}) {
  const [typed, setTyped] = useState(chosen)
  const name = typed.trim()
  const isTaken = task === 'rename' && name !== chosen && names.includes(name)
  const change = { error: null, isPending: false, mutate: () => onDone(task === 'delete' ? chosen : name) }
  return (
    <FormDialog
      title={titles[task]}
      submit={{ save: 'Save', rename: 'Rename', delete: 'Delete' }[task]}
      isDanger={task === 'delete'}
      isReady={task === 'delete' || name !== ''}
      isFaulty={isTaken}
      change={change}
      onClose={onClose}
    >
      {task === 'delete' ? (
        <p>Delete the inputs “{chosen}” from this browser?</p>
      ) : (
        <TextField
          label="Name"
          hint={
            task === 'save' && names.includes(name)
              ? 'Replaces the inputs with this name.'
              : 'Kept in this browser only.'
          }
          fault={isTaken ? 'Other inputs already have this name.' : null}
          maxLength={60}
          value={typed}
          onChange={setTyped}
        />
      )}
    </FormDialog>
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
  const [estimate, setEstimate] = useState<{ made: SandboxEstimate; graph: Graph; input: object } | null>(null)

  async function withSaved(work: (saved: Base) => Promise<void>): Promise<void> {
    setError(null)
    const saved = await saving.saved()
    if (saved) await work(saved).catch(setError)
  }
  async function follow(beginning: Trigger): Promise<void> {
    if (run.getState().isRunning) return // opened during the save
    await followOnCanvas(scope, run, beginning, editor.store.getState().graph)
  }
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
      withSaved(async ({ number, graph }) => {
        const made = await ask('POST', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/estimate', {
          params: scope,
          body: { input, revision: number },
        })
        setEstimate({ made, graph, input })
      }),
  }
}
