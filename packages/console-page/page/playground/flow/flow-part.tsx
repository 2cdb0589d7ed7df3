import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../../api/queries.ts'
import { useScope, useBaseUrl } from '../../api/session.ts'
import { readingRevision } from '../../flow-editor/data/use-opened-flow.ts'
import { EmptyState, Waiting } from '../../components/list-states.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { ModelChoice } from '../components/model-choice.tsx'
import '../../flow-editor/style/forms.css'
import { useEffect, useRef, useState } from 'react'
import type { RevisionRecord, SandboxRecord } from '@gateway/api/console/sandboxes'
import { CeilingField, ceilingOf, RunOutcome, EstimateLabels, nodeLabels } from '../../flow-editor/run/run-outcome.tsx'
import { InputForm, useUnread } from '../../flow-editor/run/input-form.tsx'
import { durationText } from '../../calls/call-columns.tsx'
import { Badge, type Tone, Money } from '../../components/values.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { useStore } from 'zustand'
import type { SandboxEstimate } from '@gateway/api/estimate'
import { ask } from '../../api/ask.ts'
import { executing, followOnCanvas, stopExecution } from '../../flow-editor/run/follow-execution.ts'
import { useShowExecution } from '../../flow-editor/run/use-shown-execution.ts'
import type { keptIn } from '../data/kept.ts'
import { openRun, type RunState, type RunStore } from '../../flow-editor/run/run-store.ts'
import { sameJson } from '@gateway/flow/compare/graph-units'
import { fittingValues } from '../../flow-editor/data/run-inputs.ts'
import { useKeptInputs } from '../../flow-editor/data/use-kept-inputs.ts'
import { exampleInput } from '../../flow-editor/core/contract-commands.ts'
import { CodePanel } from '../components/code-panel.tsx'
import { clientSettings } from '@gateway/flow/client-settings'
import { curlCode, javaScript, sourceText, KEY_NAME, type ShownCode } from '../code/source-text.ts'

/** Tries the active revision of a flow, as callers get it. */
export function FlowPart({ kept, flow, onFlow }: { kept: Kept; flow: string; onFlow: (flow: string) => void }) {
  const params = useScope()
  const { data, error } = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params }))
  const active = data?.filter(({ activeRevision, suspended }) => activeRevision !== null && !suspended) ?? []
  const [first, setFirst] = useState('')
  const wanted = flow || first || active[0]?.id
  if (wanted !== undefined && first !== wanted) setFirst(wanted)
  const chosen = active.find(({ id }) => id === wanted)
  const number = chosen?.activeRevision ?? 0
  const revision = useQuery({
    ...readingRevision({ tenant: params.tenant, sandbox: chosen?.id ?? '' }, number),
    enabled: number > 0,
    // The form stays until a revision that was activated since is read.
    placeholderData: (before: RevisionRecord | undefined, query) =>
      (query?.queryKey[1] as { sandbox?: string } | undefined)?.sandbox === chosen?.id ? before : undefined,
  })
  if (!data) return error ? <RefusalBox error={error} /> : <Waiting what="flows" />
  if (wanted === undefined)
    return (
      <EmptyState
        title="No flows to try yet"
        action={
          <Link className="button main" to="/projects/$tenant/$project/flows" params={params}>
            View flows
          </Link>
        }
      >
        Activate a revision of a flow to try it here.
      </EmptyState>
    )
  return (
    <div className="stack">
      <div className="playground-line">
        <ModelChoice label="Flow" models={active} known={data} chosen={wanted} onChange={(id) => onFlow(id ?? '')} />
      </div>
      {chosen && chosen.description !== '' && <p className="soft">{chosen.description}</p>}
      <RefusalBox error={error ?? revision.error} />
      {chosen && revision.data && <FlowRun key={chosen.id} kept={kept} flow={chosen} revision={revision.data} />}
    </div>
  )
}

/** Inputs of a flow, its cost estimate and its result. */
function FlowRun({ kept, flow, revision }: { kept: Kept; flow: SandboxRecord; revision: RevisionRecord }) {
  const { state, error, estimate, execute, stop, askEstimate } = useFlowRun(kept, flow.id, revision)
  const { inputs, now, keep } = useKeptInputs(flow.id)
  const { last, maxCost } = inputs
  const input = fittingValues(last, revision.graph.input)
  const { hasUnread, heldOf } = useUnread(revision.graph.input)
  const maxMicro = ceilingOf(maxCost)
  const isReady = maxMicro !== undefined && !hasUnread
  const canRun = isReady && !state.isRunning
  /** While a flow runs, a button keeps the focus, which a disabled one loses. */
  const off = { disabled: !isReady, 'aria-disabled': state.isRunning }
  return (
    <div className="playground-flow">
      <form
        className="card stack"
        aria-label="Inputs"
        onSubmit={(event) => {
          event.preventDefault()
          if (canRun) void execute(input, maxMicro ?? null)
        }}
      >
        <InputForm
          side={revision.graph.input}
          values={input}
          heldOf={heldOf}
          onChange={(change) => keep({ last: change(now().last) })}
        />
        <CeilingField typed={maxCost} onChange={(next) => keep({ maxCost: next })} />
        {estimate?.number === revision.number && sameJson(estimate.input, input) && (
          <EstimateLabels of={estimate.made} />
        )}
        <div className="buttons">
          <button type="submit" className="button main" {...off}>
            {state.isRunning ? 'Running…' : 'Run'}
          </button>
          {state.isRunning && state.executionId !== null && (
            <button type="button" className="button danger" onClick={() => void stop()}>
              Stop
            </button>
          )}
          <button type="button" className="button" {...off} onClick={() => canRun && void askEstimate(input)}>
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

type Row = [id: string, node: RunState['nodes'] extends ReadonlyMap<string, infer Node> ? Node : never]

/** Nodes of an execution with their state, duration and charge. */
function FlowProgress({ of: { nodes } }: { of: RunState }) {
  return <DataTable caption="Nodes" columns={columns} rows={[...nodes] as Row[]} keyOf={([id]) => id} />
}

const tones: Record<keyof typeof nodeLabels, Tone> = {
  Pending: 'plain',
  Running: 'warn',
  Succeeded: 'good',
  Failed: 'bad',
  Skipped: 'plain',
}

const columns: Column<Row>[] = [
  { head: 'Node', cell: ([id]) => <code>{id}</code> },
  { head: 'State', cell: ([, { status }]) => <Badge tone={tones[status]} text={nodeLabels[status]} /> },
  { head: 'Time', cell: ([, { durationMs }]) => durationText(durationMs) },
  { head: 'Charged', cell: ([, { chargedMicro }]) => <Money micro={chargedMicro} /> },
]

type Kept = ReturnType<typeof keptIn>

function lastExecutions(kept: Kept): Record<string, string> {
  return (kept.read('executions') ?? {}) as Record<string, string>
}

/** An execution that was started here and may not have its ID yet. */
interface Started {
  store: RunStore
  /** Ends with the progress of the execution. */
  work: Promise<void>
  leaving: AbortController
  isShown: boolean
}

/** By organization and flow. Without its ID, an execution can't be found again: the form that opens next takes it over. */
const starting = new Map<string, Started>()

/** Opens a store whose execution is kept in this tab, so that it can be followed again. */
function openKeptRun(kept: Kept, sandbox: string, place: string): RunStore {
  const store = openRun()
  store.subscribe(({ executionId }, before) => {
    if (executionId === null || executionId === before.executionId) return
    kept.write('executions', { ...lastExecutions(kept), [sandbox]: executionId })
    const started = starting.get(place)
    if (started?.store !== store) return
    starting.delete(place)
    if (!started.isShown) started.leaving.abort()
  })
  return store
}

/** Executes a saved revision of a flow and follows its progress, again after the form was left. */
function useFlowRun(kept: Kept, sandbox: string, { number, graph }: RevisionRecord) {
  const scope = { ...useScope(), sandbox }
  const place = `${scope.tenant} ${sandbox}`
  const [taken] = useState(() => starting.get(place))
  const [store] = useState(() => taken?.store ?? openKeptRun(kept, sandbox, place))
  const started = useRef(taken)
  const { error: notShown, show } = useShowExecution(sandbox, store)
  const last = useRef<string | undefined>(taken ? undefined : lastExecutions(kept)[sandbox])
  useEffect(() => {
    if (last.current !== undefined) show(last.current)
    last.current = undefined
  }, [show])
  useEffect(() => {
    if (started.current) started.current.isShown = true
    void taken?.work.catch(setError)
    return () => {
      if (!started.current) return
      started.current.isShown = false
      if (store.getState().executionId !== null) started.current.leaving.abort()
    }
  }, [taken, store])
  const [error, setError] = useState<unknown>(null)
  const [estimate, setEstimate] = useState<{ made: SandboxEstimate; number: number; input: object } | null>(null)
  const state = useStore(store)

  async function execute(input: Record<string, unknown>, maxMicro: number | null): Promise<void> {
    const leaving = new AbortController()
    const trigger = executing(scope, { input, maxMicro, revision: number })
    const work = followOnCanvas(scope, store, trigger, graph, leaving.signal)
    started.current = { store, work, leaving, isShown: true }
    starting.set(place, started.current)
    await work.finally(() => starting.get(place)?.work === work && starting.delete(place))
  }
  async function attempt(work: () => Promise<void>): Promise<void> {
    setError(null)
    await work().catch(setError)
  }
  return {
    state,
    error: error ?? (state.started === 0 ? notShown : null),
    estimate,
    /** @param maxMicro max cost in micro-USD, or null for none */
    execute: (input: Record<string, unknown>, maxMicro: number | null) => attempt(() => execute(input, maxMicro)),
    stop: () => attempt(() => stopExecution(scope, state.executionId ?? '')),
    askEstimate: (input: Record<string, unknown>) =>
      attempt(async () => {
        const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/estimate'
        const made = await ask('POST', path, { params: scope, body: { input, revision: number } })
        setEstimate({ made, number, input })
      }),
  }
}

/** Code samples that run the flow. Empty inputs are filled with examples. */
function FlowCodePart({
  flow,
  revision,
  input,
  maxMicro,
}: {
  flow: SandboxRecord
  revision: RevisionRecord
  input: Record<string, unknown>
  maxMicro: number | null
}) {
  const baseUrl = useBaseUrl()
  const [isOpen, setOpen] = useState(false)
  const given = { ...(JSON.parse(exampleInput(revision.graph.input)) as object), ...input }
  return (
    <details className="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>View code</summary>
      {isOpen && <CodePanel of={flowCode(baseUrl, flow, { input: given, ...(maxMicro !== null && { maxMicro }) })} />}
      {isOpen && !flow.mcpEnabled && (
        <p className="soft small">MCP clients are refused until you expose the flow as an MCP server in its editor.</p>
      )}
    </details>
  )
}

/** Code samples that run a flow: with streamed progress, as one response, and as an MCP tool. */
function flowCode(
  baseUrl: string,
  { id, name }: { id: string; name: string },
  body: { input: object; maxMicro?: number },
): ShownCode[] {
  const address = `${baseUrl.replace(/\/+$/, '')}/v1/sandbox/${id}`
  const once = 'Idempotency-Key: $(uuidgen || cat /proc/sys/kernel/random/uuid)'
  const invoke = (accept: string, isStream: boolean) =>
    curlCode(`${address}/invoke`, body, { isStream, headers: [`Accept: ${accept}`, once] })
  const server = name.replaceAll(/[^\w]+/g, '-').toLowerCase()
  const settings = clientSettings({ name: server, address: `${address}/mcp`, topics: JSON.stringify(body.input) })
  return [
    { title: 'curl (streaming)', install: null, text: invoke('application/x-ndjson', true) },
    { title: 'curl (result only)', install: null, text: invoke('application/json', false) },
    { title: 'JavaScript', install: null, text: javaScriptCode(`${address}/invoke`, body) },
    ...settings.map(({ title, text }) => ({ title: `MCP: ${title}`, install: null, text })),
  ]
}

function javaScriptCode(url: string, body: object): string {
  return `const answer = await fetch('${url}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.${KEY_NAME}}\`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  },
  body: JSON.stringify(${sourceText(body, javaScript, 1)}),
})
const execution = await answer.json()
console.log(execution)
`
}
