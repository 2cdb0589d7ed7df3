import { linesTopicOf, pushedText } from '@gateway/ledger-protocol/flow-reads'
import type { Deps } from '../../deps.ts'
import type { Flow } from '../cache/flow.ts'
import { type ExecutionChange, hasEnded, type NodeChange } from '../store/read-executions.ts'
import { nodeLines, progressLines } from './compose-record.ts'
import { type NodeRow, readRows } from './read-rows.ts'

// Sends the new lines of executions to their followers after the commit (flows §4.4). Nothing depends on it: a follower
// that misses lines reads them.
//   P1  The lines of succeeded nodes are composed from what was just written: the same text as a reader gets.
//   P2  Errors are worded by who started the execution, and the last line has all nodes. These are read, once for all
//       followers, and only if there are some.
//   P3  The texts of a batch are sent together, before those of the next one: a follower reads what comes out of
//       order.

type PushDeps = Pick<Deps, 'notifier' | 'reads' | 'packageCache'>

/** @param charged micro-USD by reservation */
export async function pushLines(
  deps: PushDeps,
  changes: Iterable<ExecutionChange>,
  charged: ReadonlyMap<string, number>,
): Promise<void> {
  const progressed = [...changes].filter((change) => change.seq > change.execution.seq)
  const toRead = progressed.filter(
    (change) => hasEnded(change) || endedNodes(change).some(([, { state }]) => state !== 'Succeeded'),
  )
  const succeeded = progressed.filter((change) => !toRead.includes(change))
  const flows = await Promise.all(succeeded.map(({ execution }) => deps.packageCache.get(execution)))
  for (const [n, change] of succeeded.entries()) push(deps, change, succeededLines(change, flows[n]!, charged)) // P1, P3
  if (toRead.length > 0) await pushRead(deps, toRead) // P2
}

async function pushRead(deps: PushDeps, changes: readonly ExecutionChange[]): Promise<void> {
  const followed = await deps.notifier.received(changes.map(({ execution }) => linesTopicOf(execution.id)))
  for (const change of changes) {
    const { id, seq } = change.execution
    if (!followed.has(linesTopicOf(id))) continue
    const found = await readRows(deps, id, seq)
    if (found !== null) push(deps, change, progressLines(found.execution, found.nodes, seq), found.execution.seq)
  }
}

function push({ notifier }: Pick<Deps, 'notifier'>, change: ExecutionChange, lines: string, seq = change.seq): void {
  const { id, seq: after } = change.execution
  notifier.send(linesTopicOf(id), pushedText({ after, seq, done: hasEnded(change), lines }))
}

function endedNodes({ nodes }: ExecutionChange): [ordinal: number, NodeChange][] {
  return [...nodes].filter(([, { seq }]) => seq !== null)
}

function succeededLines(change: ExecutionChange, { plan }: Flow, charged: ReadonlyMap<string, number>): string {
  const rows = endedNodes(change).map(([ordinal, node]): NodeRow => {
    const { id, kind } = plan.nodes[ordinal]!
    return {
      node: id,
      kind,
      state: node.state,
      seq: node.seq,
      output: node.output === null ? null : Buffer.from(node.output),
      error: null,
      duration_ms: node.measured?.durationMs ?? null,
      remote_ms: node.measured?.remoteMs ?? null,
      attempt: node.attempt,
      claimed_ms: null,
      ended_ms: null,
      call: node.call,
      charged: BigInt((node.reservation !== null && charged.get(node.reservation)) || 0),
      takenOver: false,
    }
  })
  return nodeLines(rows)
}
