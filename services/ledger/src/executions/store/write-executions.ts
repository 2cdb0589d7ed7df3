import { randomInt } from 'node:crypto'
import type { Database } from '@gateway/database/client'
import { jobsOf, type EnqueuedNode } from './enqueued-nodes.ts'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { ExecutionChange } from './execution-facts.ts'

type Prisma = Pick<Database['prisma'], '$queryRawUnsafe'>

export interface WrittenExecutions {
  /** With their new versions. The others have changed since they were read, somebody holds them, or a presumed instance has ended. */
  written: Map<ExecutionChange, number>
  jobs: NodeJob[]
  /** Of what was charged: usage beyond the bounds, in micro-USD, and answers whose reservations had ended. */
  excessMicro: number
  fenced: number
  /** What each reservation that was closed was charged, in micro-USD. */
  charged: Map<string, number>
}

interface Row {
  written: number[] | null
  closed: number[] | null
  closings: string | null
  rung: string | null
}

const SQL = `SELECT written, closed, closings, rung FROM money.write_executions_v1(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
  $27, $28, $29, $30, $31, $32, $33, $34, $35)`

/** Not null: the driver takes the type of a list from its first item, and behind a null would store base64 for bytes. */
const NO_BYTES = Buffer.alloc(0)
const bytesOf = (text: string | null) => (text === null ? NO_BYTES : Buffer.from(text))

interface How {
  /** Waits for runs and wallets that others hold. */
  patient: boolean
  nodesAtOnce: number
  /** Instances that nobody has looked up: where one of them has ended, nothing is written. */
  presumed: ReadonlySet<string>
}

/**
 * A version is never given twice, not even after a crash that took back the last claims (F6): what another replica or a former life of
 * the database made of a run is not taken for what this one remembers.
 */
const MOST_STEP = 4_096

/** Writes what was decided of runs, in one round trip, and asks for what may run next. */
export async function writeExecutions(
  prisma: Prisma,
  changes: readonly ExecutionChange[],
  how: How,
): Promise<WrittenExecutions> {
  const nodes = changes.flatMap((change, n) =>
    [...change.nodes].map(([ordinal, node]) => ({ execution: n + 1, ordinal, ...node })),
  )
  const closings = changes.flatMap((change, n) => change.closings.map((closing) => ({ execution: n + 1, ...closing })))
  const versions = changes.map(({ execution }) => execution.version + randomInt(1, MOST_STEP))
  const [row] = await prisma.$queryRawUnsafe<[Row]>(
    SQL,
    how.patient,
    how.nodesAtOnce,
    [...how.presumed],
    changes.map(({ execution }) => execution.id),
    changes.map(({ execution }) => execution.project),
    changes.map(({ execution }) => execution.version),
    versions,
    changes.map(({ status }) => status),
    changes.map(({ seq }) => seq),
    changes.map(({ error }) => bytesOf(error)),
    changes.map(({ output }) => bytesOf(output)),
    changes.map(({ started }) => started),
    changes.map(({ deadlineInMs }) => deadlineInMs),
    nodes.map(({ execution }) => execution),
    nodes.map(({ ordinal }) => ordinal),
    nodes.map(({ state }) => state),
    nodes.map(({ attempt }) => attempt),
    nodes.map(({ deaths }) => deaths),
    nodes.map(({ seq }) => seq),
    nodes.map(({ state, ports }) => (state === 'Succeeded' ? JSON.stringify(ports) : null)),
    nodes.map(({ output }) => bytesOf(output)),
    nodes.map(({ error }) => bytesOf(error)),
    nodes.map(({ instance }) => instance),
    nodes.map(({ lease }) => lease),
    nodes.map(({ call }) => call),
    nodes.map(({ reservation }) => reservation),
    nodes.map(({ durationMs }) => durationMs),
    nodes.map(({ remoteMs }) => remoteMs),
    closings.map(({ execution }) => execution),
    closings.map(({ reservation }) => reservation),
    closings.map(({ usage }) => (usage ? 'settle' : 'release')),
    closings.map(({ usage }) => usage?.promptTokens ?? null),
    closings.map(({ usage }) => usage?.completionTokens ?? null),
    closings.map(({ usage }) => usage?.estimated ?? null),
    closings.map(({ usage, reason }) => (usage ? null : reason)),
  )
  const { outcome, charged, excess } = readClosings(row.closings)
  return {
    written: new Map(row.written?.map((n) => [changes[n - 1]!, versions[n - 1]!])),
    jobs: row.rung === null ? [] : jobsOf(JSON.parse(row.rung) as EnqueuedNode[]),
    excessMicro: excess.reduce((sum, micro) => sum + micro, 0),
    fenced: outcome.filter((one) => one === 'fenced').length,
    charged: new Map(row.closed?.map((n, place) => [closings[n - 1]!.reservation, charged[place] ?? 0])),
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
