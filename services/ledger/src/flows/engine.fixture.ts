import { createHash, randomBytes } from 'node:crypto'
import { mintId } from '@gateway/contracts/ids'
import type { Claimed, ClaimItem, CompleteItem } from '@gateway/contracts/flow-items'
import type { ExecutionRecord } from '@gateway/contracts/execution'
import type { StartAnswer, StartQuestion } from '@gateway/contracts/flow-reads'
import type { Graph } from '@gateway/contracts/graph'
import { openDatabase, type Database } from '@gateway/database/client'
import { chatFieldsOf } from '@gateway/flow/contract'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Fixture, KeyFixture } from '@gateway/testbed/fixture'
import { recordHeartbeat, endInstance } from '../instances.ts'
import { endOverdue } from '../maintenance/deadline-enforcer.ts'
import { reclaimNodes } from '../maintenance/node-rescuer.ts'
import { requeueLostJobs } from '../maintenance/job-requeuer.ts'
import { openNodeBatcher } from './node-batcher.ts'
import { openFlows } from './flows.ts'
import { followExecution } from './records/follow-run.ts'
import { readExecution } from './records/read-execution.ts'
import { openExecutionStarter } from './start/start-runs.ts'
import { telling } from './tell.ts'

// The flow engine of one ledger replica on a real database. What it would put into the queue and ring for is kept here for a test to
// take: the queue and the notifier have tests of their own.

export type Engine = Awaited<ReturnType<typeof openEngine>>

interface Options {
  nodesAtOnce?: number
  mostOpen?: number
  mostWaiting?: number
  batchItems?: number
  lateMs?: number
  /** Stands in the road of each statement, for tests that need to hold one up. */
  around?: (database: Database) => Pick<Database, 'prisma'>
}

export async function openEngine(url: string, options: Options = {}) {
  const { nodesAtOnce = 32, mostOpen = 10_000, mostWaiting = 2_000, batchItems = 128 } = options
  const { lateMs = 3_000, around = (one) => one } = options
  const database = await openDatabase({ url, poolSize: 2 })
  const reads = await openDatabase({ url, poolSize: 2 })
  const jobs: NodeJob[] = []
  const rings: string[] = []
  const setAside: unknown[] = []
  const used: string[] = []
  const tell = telling({
    notify: (topic) => void rings.push(topic),
    enqueue: async (more) => void jobs.push(...more),
    onQueueAway: () => {},
  })
  const flows = openFlows(reads, { mostBytes: 1024 * 1024 })
  const shared = { database: around(database), flows, tell, nodesAtOnce }
  const lane = openNodeBatcher({
    ...shared,
    batchItems,
    mintCall: () => mint('inv'),
    now: () => performance.now(),
    observe: { flowBatch() {}, settledMore() {}, fenced() {}, setAside: (_, error) => setAside.push(error) },
  })
  const starter = openExecutionStarter({ ...shared, mostOpen, mostWaiting, noteUse: (key) => void used.push(key) })

  return {
    database,
    reads,
    lane,
    tell,
    jobs,
    rings,
    setAside,
    used,
    start: starter.start,
    follow: followExecution(reads),
    read: readExecution(reads),
    reclaim: reclaimNodes({ database: reads, lane }),
    endOverdue: endOverdue({ database: reads, lane, tell }),
    requeueLostJobs: requeueLostJobs({ database: reads, tell, nodesAtOnce, lateMs }),
    /** Registers a process that claims. */
    async newInstance(): Promise<string> {
      const instance = mint('ins')
      await recordHeartbeat(reads)({ instance, service: 'worker', deadAfterMs: 3_000 })
      return instance
    },
    endInstance: (instance: string) => endInstance(reads)({ instance }),
    claim: (item: Omit<ClaimItem, 'op'>) => lane.submit({ op: 'claim', ...item }, 10_000),
    complete: (item: Omit<CompleteItem, 'op'>) => lane.submit({ op: 'complete', ...item }, 10_000),
    /** The record of a run, parsed. */
    async record(execution: string) {
      const answer = await readExecution(reads)({ caller: null, project: null, execution })
      if ('refused' in answer) throw new Error(answer.refused.code)
      return JSON.parse(answer.record) as ExecutionRecord
    },
    async close() {
      await starter.drain()
      await lane.drain()
      await database.close()
      await reads.close()
    },
  }
}

export const mint = (prefix: string) => mintId(prefix, Date.now(), randomBytes(10))
export const newLease = () => randomBytes(16).toString('hex')

interface Saved {
  graph: Graph
  activate?: boolean
  suspended?: boolean
  /** The graph has this problem, so it has no package. */
  problem?: string
}

/** Saves a sandbox product with one revision, as the console does. */
export async function saveSandbox(fixture: Fixture, project: string, by: string, saved: Saved): Promise<string> {
  const sandbox = mint('sbx').replace('_', '-')
  await fixture.run(
    `INSERT INTO control.sandboxes (id, project, name, description, created_by) VALUES ($1, $2, 'A flow', '', $3)`,
    [sandbox, project, by],
  )
  await saveRevision(fixture, sandbox, by, saved)
  if (saved.suspended) await fixture.run('UPDATE control.sandboxes SET suspended = true WHERE id = $1', [sandbox])
  return sandbox
}

/** Saves the next revision, and activates it unless told not to. */
export async function saveRevision(
  fixture: Fixture,
  sandbox: string,
  by: string,
  { graph, activate = true, problem }: Saved,
): Promise<number> {
  const built = problem === undefined ? buildPackage(graph) : null
  const chat = built && chatFieldsOf(built.package.input, built.package.output)
  const { rows } = await fixture.run(
    `WITH next AS (UPDATE control.sandboxes SET latest_revision = latest_revision + 1 WHERE id = $1 RETURNING latest_revision AS number)
     INSERT INTO control.revisions (sandbox, number, draft, graph, problems, digest, package, manifest, paid_nodes, chat_input, chat_output, created_by)
     SELECT $1, number, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM next RETURNING number`,
    [
      sandbox,
      problem !== undefined,
      Buffer.from(JSON.stringify(graph)),
      Buffer.from(JSON.stringify(problem === undefined ? [] : [{ message: problem }])),
      built?.digest ?? null,
      built ? Buffer.from(built.text) : null,
      built?.package.manifest ?? [],
      built ? planOf(built.package).paidNodes : 0,
      chat?.input ?? null,
      chat?.output ?? null,
      by,
    ],
  )
  const { number } = (rows as { number: number }[])[0]!
  if (activate && built)
    await fixture.run('UPDATE control.sandboxes SET active_revision = $2, activated_at = now() WHERE id = $1', [
      sandbox,
      number,
    ])
  return number
}

/** A question by key to begin a run; what a test does not say is small and plain. */
export function question(key: KeyFixture, sandbox: string, more: Partial<StartQuestion> = {}): StartQuestion {
  return {
    id: mint('exe'),
    caller: { keyHash: key.hash, selector: null },
    sandbox,
    revision: null,
    surface: 'invoke',
    input: { text: 'a question' },
    idempotency: null,
    trace: null,
    ...more,
  }
}

export function idempotencyOf(key: string, input: unknown = {}) {
  return { key, fingerprint: createHash('sha256').update(JSON.stringify(input)).digest('hex') }
}

/** `started`, or the code of the refusal. */
export function codeOf(answer: StartAnswer): string {
  return 'refused' in answer ? answer.refused.code : answer.kind
}

export interface Taken {
  job: NodeJob
  lease: string
  claim: Claimed
}

/** Takes the next job of a run out of the queue and claims its node. */
export async function takeNext(engine: Engine, instance: string, execution: string): Promise<Taken> {
  const at = engine.jobs.findIndex((job) => job.execution === execution)
  if (at < 0) throw new Error(`nothing is enqueued of ${execution}`)
  const job = engine.jobs.splice(at, 1)[0]!
  const lease = newLease()
  const claim = await engine.claim({ ...claimOf(job), lease, instance })
  if (claim.kind !== 'claimed') throw new Error(`${job.node} of ${execution}: ${claim.kind}`)
  return { job, lease, claim }
}

export function claimOf({ execution, node, attempt }: NodeJob) {
  return { execution, node, attempt }
}

/** Ends a claimed node with a text, or as it is told. */
export function ending(
  { job: { execution, node }, lease }: Pick<Taken, 'job' | 'lease'>,
  more: Partial<CompleteItem> = {},
) {
  const result: CompleteItem['result'] = {
    kind: 'succeeded',
    output: JSON.stringify({ text: `by ${node}` }),
    ports: ['text'],
  }
  return { execution, node, lease, result, usage: null, durationMs: 3, remoteMs: null, ...more }
}

export const failing = (code = 'provider_failed'): CompleteItem['result'] => ({
  kind: 'failed',
  error: JSON.stringify({ code }),
})
