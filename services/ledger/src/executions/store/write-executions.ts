import { randomInt } from 'node:crypto'
import { callFunction } from '@gateway/database/call-function'
import type { Sql } from '@gateway/database/client'
import { jobsOf, type EnqueuedNode } from './enqueued-nodes.ts'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { ExecutionChange } from './execution-facts.ts'

export interface WrittenExecutions {
  /**
   * With their new versions. The others have changed since they were read, somebody has them locked, or an instance
   * that was assumed alive has ended.
   */
  written: Map<ExecutionChange, number>
  jobs: NodeJob[]
  /** Of what was charged: usage beyond the bounds, in micro-USD, and answers whose reservations had ended. */
  excessMicro: number
  fenced: number
  /** Calls that were admitted and given up without a word of how they ended: their providers may have served them. */
  perhapsCalled: number
  /** What each reservation that was closed was charged, in micro-USD. */
  charged: Map<string, number>
}

/**
 * Not null: the driver takes the type of a list from its first item, and behind a null would store base64 for bytes.
 */
const NO_BYTES = Buffer.alloc(0)
const bytesOf = (text: string | null) => (text === null ? NO_BYTES : Buffer.from(text))

interface How {
  /** Waits for executions and wallets that others have locked. */
  patient: boolean
  nodesAtOnce: number
  /** Instances that nobody has looked up: where one of them has ended, nothing is written. */
  assumedAlive: ReadonlySet<string>
}

/**
 * A version is never given twice, not even after a crash that took back the last claims (F6 of write_executions): what
 * another replica or a former life of
 * the database made of an execution is not taken for what this one has in its cache.
 */
const MAX_STEP = 4_096

/** Writes what was decided of executions, in one round trip, and enqueues what may run next. */
export async function writeExecutions(
  sql: Sql,
  changes: readonly ExecutionChange[],
  how: How,
): Promise<WrittenExecutions> {
  const nodes = changes.flatMap((change, n) =>
    [...change.nodes].map(([ordinal, node]) => ({ execution: n + 1, ordinal, ...node })),
  )
  const closings = changes.flatMap((change, n) => change.closings.map((closing) => ({ execution: n + 1, ...closing })))
  const versions = changes.map(({ execution }) => execution.version + randomInt(1, MAX_STEP))
  const row = await callFunction(sql, 'money.write_executions', {
    wait_for_locks: how.patient,
    nodes_at_once: how.nodesAtOnce,
    instances: [...how.assumedAlive],
    e_id: changes.map(({ execution }) => execution.id),
    e_project: changes.map(({ execution }) => execution.project),
    e_version: changes.map(({ execution }) => execution.version),
    e_next_version: versions,
    e_status: changes.map(({ status }) => status),
    e_seq: changes.map(({ seq }) => seq),
    e_error: changes.map(({ error }) => bytesOf(error)),
    e_output: changes.map(({ output }) => bytesOf(output)),
    e_started: changes.map(({ started }) => started),
    e_deadline_ms: changes.map(({ deadlineInMs }) => deadlineInMs),
    e_enqueues: changes.map(({ enqueues }) => enqueues),
    n_execution: nodes.map(({ execution }) => execution),
    n_ordinal: nodes.map(({ ordinal }) => ordinal),
    n_state: nodes.map(({ state }) => state),
    n_attempt: nodes.map(({ attempt }) => attempt),
    n_deaths: nodes.map(({ deaths }) => deaths),
    n_seq: nodes.map(({ seq }) => seq),
    n_ports: nodes.map(({ state, ports }) => (state === 'Succeeded' ? JSON.stringify(ports) : null)),
    n_output: nodes.map(({ output }) => bytesOf(output)),
    n_error: nodes.map(({ error }) => bytesOf(error)),
    n_instance: nodes.map(({ instance }) => instance),
    n_lease: nodes.map(({ lease }) => lease),
    n_call: nodes.map(({ call }) => call),
    n_reservation: nodes.map(({ reservation }) => reservation),
    n_duration_ms: nodes.map(({ durationMs }) => durationMs),
    n_remote_ms: nodes.map(({ remoteMs }) => remoteMs),
    c_execution: closings.map(({ execution }) => execution),
    c_id: closings.map(({ reservation }) => reservation),
    c_kind: closings.map(({ usage }) => (usage ? 'settle' : 'release')),
    c_usage: JSON.stringify(closings.map(({ usage }) => usage ?? {})),
    c_reason: closings.map(({ usage, reason }) => (usage ? null : reason)),
  })
  const { outcome, charged, excess } = readClosings(row.closings)
  const made = (row.closed ?? []).map((n) => closings[n - 1]!)
  return {
    written: new Map(row.written?.map((n) => [changes[n - 1]!, versions[n - 1]!])),
    jobs: row.jobs === null ? [] : jobsOf(JSON.parse(row.jobs) as EnqueuedNode[]),
    excessMicro: excess.reduce((sum, micro) => sum + micro, 0),
    fenced: outcome.filter((name) => name === 'fenced').length,
    perhapsCalled: made.filter(({ perhapsCalled }, n) => perhapsCalled && outcome[n] === 'released').length,
    charged: new Map(made.map(({ reservation }, n) => [reservation, charged[n] ?? 0])),
  }
}

/** Each a list in the order of the closings that were made. */
interface Closings {
  outcome: string[]
  charged: number[]
  excess: number[]
}

function readClosings(text: string | null): Closings {
  return text === null ? { outcome: [], charged: [], excess: [] } : (JSON.parse(text) as Closings)
}
