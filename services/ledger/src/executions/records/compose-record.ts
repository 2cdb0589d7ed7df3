import { errorOfExecution, errorOfNode } from '@gateway/api/execution'
import type { RefusalBody } from '@gateway/api/refusal'
import type { ExecutionRow, NodeRow } from './read-rows.ts'
import { flowLimits } from '@gateway/api/limits'
import type { Plan, PlanNode } from '@gateway/flow/plan'
import { resolveInputs } from '@gateway/flow/run-free-node'
import { sourcesIn } from '../cache/load-executions.ts'

// Composes records as text from stored bytes (packages/api/src/execution.ts). Outputs are stored as JSON and inserted
// unchanged; errors are formatted by packages/api/src/execution.ts.

/** The fields of a `NodeRecord`, each as JSON text. */
function nodeFields({ started_by: startedBy }: Pick<ExecutionRow, 'started_by'>, node: NodeRow) {
  const status = node.state === 'Ready' ? 'Pending' : node.state // callers do not see that it waits for a worker
  return {
    id: text(node.node),
    kind: text(node.kind),
    status: text(status),
    output: stored(node.output),
    error: failure(node.error, (error) => errorOfNode(error, { startedBy, chargedMicro: Number(node.charged) })),
    durationMs: number(node.duration_ms),
    remoteMs: number(node.remote_ms),
    callId: node.call === null ? 'null' : text(node.call),
    chargedMicro: String(node.charged),
    takenOver: String(node.takenOver),
  }
}

/** Returns an `ExecutionRecord` with all its nodes, as JSON text. */
export function executionRecord(execution: ExecutionRow, nodes: readonly NodeRow[]): string {
  return object(executionFields(execution, nodes))
}

/** The fields of an `ExecutionRecord`, each as JSON text. */
function executionFields(execution: ExecutionRow, nodes: readonly NodeRow[]) {
  const calls = nodes.flatMap(({ call }) => (call === null ? [] : [text(call)]))
  const { id, started_by: startedBy } = execution
  const chargedMicro = Number(nodes.reduce((sum, { charged }) => sum + charged, 0n))
  const ended = execution.completed_at !== null
  return {
    id: text(id),
    object: '"sandbox.execution"',
    sandbox: text(execution.sandbox),
    revision: String(execution.revision),
    project: text(execution.project),
    rerunOf: execution.rerunOf === null ? 'null' : text(execution.rerunOf),
    status: text(execution.status),
    output: stored(execution.output),
    error: failure(execution.error, (error) => errorOfExecution(error, { id, startedBy, chargedMicro, ended })),
    nodes: `[${nodes.map((node) => object(nodeFields(execution, node))).join(',')}]`,
    childCalls: `[${calls.join(',')}]`,
    maxMicro: number(execution.max_micro),
    chargedMicro: String(chargedMicro),
    createdAt: text(execution.created_at.toISOString()),
    startedAt: time(execution.started_at),
    completedAt: time(execution.completed_at),
  }
}

/** Returns the lines of succeeded nodes in order, each with a trailing newline. */
export function nodeLines(nodes: readonly NodeRow[]): string {
  return progressLinesOf({ started_by: 'invoke' }, nodes) // only an error is worded by who started it
    .map((line) => line + '\n')
    .join('')
}

function progressLinesOf(execution: Pick<ExecutionRow, 'started_by'>, nodes: readonly NodeRow[]): string[] {
  return nodes
    .toSorted((a, b) => a.seq! - b.seq!)
    .map((node) => object({ kind: '"node"', seq: String(node.seq), node: object(nodeFields(execution, node)) }))
}

/** Returns the progress lines after `after`, each with a trailing newline. */
export function progressLines(execution: ExecutionRow, nodes: readonly NodeRow[], after: number): string {
  const lines = after < 0 ? [admittedLine(execution)] : []
  const ended = nodes.filter(({ seq }) => seq !== null && seq > after)
  lines.push(...progressLinesOf(execution, ended))
  if (execution.completed_at !== null && execution.seq > after)
    lines.push(object({ kind: '"complete"', seq: String(execution.seq), execution: executionRecord(execution, nodes) }))
  return lines.map((line) => line + '\n').join('')
}

function admittedLine({ id, revision, created_at }: ExecutionRow): string {
  const at = text(created_at.toISOString())
  return object({ kind: '"admitted"', seq: '0', executionId: text(id), revision: String(revision), at })
}

function object(fields: Record<string, string>): string {
  return `{${Object.entries(fields)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`
}

const text = (value: string) => JSON.stringify(value)
const number = (value: number | null) => (value === null ? 'null' : String(value))
const time = (at: Date | null) => (at === null ? 'null' : text(at.toISOString()))
const failure = (bytes: Uint8Array | null, format: (error: RefusalBody) => RefusalBody) =>
  bytes === null ? 'null' : JSON.stringify(format(JSON.parse(Buffer.from(bytes).toString()) as RefusalBody))
const stored = (bytes: Uint8Array | null) => (bytes === null ? 'null' : Buffer.from(bytes).toString())

// The detailed record for users (packages/api/src/execution.ts), derived from stored values: the execution's input is
// the output of the input node, and a node's inputs are the outputs of the nodes before it.

/** Returns an `ExecutionDetail` as JSON text. `nodes` must be all nodes. */
export function composeDetail(execution: ExecutionRow, nodes: readonly NodeRow[], plan: Plan): string {
  const inputs = inputsOf(nodes, plan)
  const details = nodes.map((node, ordinal) =>
    object({
      ...nodeFields(execution, node),
      input: inputs[ordinal] ?? 'null',
      attempts: String(node.claimed_ms === null ? node.attempt - 1 : node.attempt),
      startedAt: node.claimed_ms === null ? 'null' : JSON.stringify(new Date(node.claimed_ms).toISOString()),
      waitedMs: String(waitedMs(execution, nodes, ordinal, plan.nodes[ordinal])),
    }),
  )
  return object({
    ...executionFields(execution, nodes),
    input: stored(nodes[plan.input]?.output ?? null),
    nodes: `[${details.join(',')}]`,
  })
}

/** Returns the inputs of claimed nodes by ordinal, as JSON text, up to the size limit of the record. */
function inputsOf(nodes: readonly NodeRow[], plan: Plan): (string | null)[] {
  const outputs = Object.fromEntries(
    nodes.flatMap(({ node, output }) => (output === null ? [] : [[node, stored(output)]])),
  )
  let roomBytes: number = flowLimits.recordInputBytes
  return nodes.map(({ claimed_ms }, ordinal) => {
    const planned = plan.nodes[ordinal]
    if (claimed_ms === null || planned === undefined) return null
    const text = JSON.stringify(resolveInputs(planned.sources, outputs, planned.node))
    const bytes = Buffer.byteLength(text)
    if (bytes > roomBytes) return null
    roomBytes -= bytes
    return text
  })
}

/** Returns the time from the end of its last source to its claim, by the database's clock. */
function waitedMs(
  { created_at }: Pick<ExecutionRow, 'created_at'>,
  nodes: readonly NodeRow[],
  ordinal: number,
  planned: PlanNode | undefined,
): number | null {
  const claimedMs = nodes[ordinal]!.claimed_ms
  if (claimedMs === null) return null
  const ends = sourcesIn(planned).map((source) => nodes[source]?.ended_ms ?? 0)
  return Math.max(0, claimedMs - Math.max(created_at.getTime(), ...ends))
}
