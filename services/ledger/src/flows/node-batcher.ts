import type { ClaimItem, ClaimOutcome, CompleteItem, CompleteOutcome } from '@gateway/contracts/flow-items'
import type { Undecided } from '@gateway/contracts/ledger-outcomes'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import { classify, lockedOut } from '../batch/classify-error.ts'
import { answerClaim } from './answer-claim.ts'
import { decideExecution } from './decide-run.ts'
import type { FlowItem, ItemOutcome, OverdueItem, ReclaimItem } from './flow-item.ts'
import type { Flows } from './flows.ts'
import { openBatcher } from './gather.ts'
import { openExecutionReader, type ExecutionsRecollection } from './recall-runs.ts'
import type { ExecutionChange } from './run-facts.ts'
import { openExecutionMemory } from './run-memory.ts'
import type { Tell } from './tell.ts'
import { writeExecutions } from './write-runs.ts'

// What workers ask about nodes, and what maintenance jobs find, decided many at a time with one batch in flight.
//   L1  A batch reads its runs, decides, and writes what still is as it was read: two round trips, no lock held between them. What
//       was not written goes with the next batch, which reads anew (F1 of write_executions_v1). What this replica has just written it
//       remembers, and need not read (M1 of run-memory.ts).
//   L2  What was passed over once is written patiently: it waits for runs and wallets that others hold. What has changed again and
//       again is locked before it is read.
//   L3  A transient error leaves open whether the batch was written. Every item may be repeated, so it is asked again.
//   L4  Any other error: the items go one by one, and the one that fails is set aside with an alarm.
//   L5  An item past its time is dropped undecided.
//   L6  Telling comes after the commit, and nothing depends on it: maintenance jobs find what was not told.

export interface NodeBatcher {
  submit(item: ClaimItem, budgetMs: number): Promise<ClaimOutcome | Undecided>
  submit(item: CompleteItem, budgetMs: number): Promise<CompleteOutcome | Undecided>
  submit(item: ClaimItem | CompleteItem, budgetMs: number): Promise<ClaimOutcome | CompleteOutcome | Undecided>
  submit(item: ReclaimItem | OverdueItem, budgetMs: number): Promise<unknown>
  waiting(): number
  /** Waits until nothing is left to decide. */
  drain(): Promise<void>
}

interface Waiting {
  item: FlowItem
  /** Past this moment (of the process's own clock) the item is dropped undecided. */
  dropAtMs: number
  /** How often a batch has passed it over. */
  deferrals: number
  /** Its run is read, whatever is remembered of it. */
  reads: boolean
  /** A batch with this item failed in a way that leaves open whether it was written. */
  ambiguous: boolean
  answer: (outcome: ClaimOutcome | CompleteOutcome | Undecided) => void
}

interface Deps {
  database: Pick<Database, 'prisma'>
  flows: Flows
  tell: Tell
  nodesAtOnce: number
  batchItems: number
  mintCall: () => string
  /** Monotonic milliseconds. */
  now: () => number
  observe: {
    flowBatch(items: number, ms: number): void
    setAside(item: { id: string }, error: unknown): void
    settledMore(excessMicro: number): void
    fenced(): void
  }
  /** Told what a completed node was charged, in micro-USD; absent: nobody asks. */
  onCharged?: ((item: object, micro: number) => void) | null
}

const PATIENT_AFTER = 1
const LOCK_AFTER = 3
const IMPATIENCE = 20
const RETRY_MS = 50
const REMEMBERED = { mostExecutions: 10_000, mostCharacters: 32 * 1024 * 1024 }

export function openNodeBatcher(deps: Deps): NodeBatcher {
  const { database, now, observe } = deps
  const batcher = openBatcher<Waiting>({ most: deps.batchItems, run: send })
  const memory = openExecutionMemory(REMEMBERED)
  const reader = openExecutionReader({ memory, flows: deps.flows, now })

  async function send(batch: Waiting[]): Promise<void> {
    const inTime = batch.filter(isInTime)
    if (inTime.length > 0) await attempt(inTime)
  }

  function isInTime(one: Waiting): boolean {
    if (now() < one.dropAtMs) return true
    one.answer({ kind: 'undecided', why: one.ambiguous ? 'unknown' : 'unavailable' }) // L5
    return false
  }

  async function attempt(batch: Waiting[]): Promise<void> {
    const startMs = now()
    try {
      await decide(batch)
      observe.flowBatch(batch.length, now() - startMs)
    } catch (error) {
      for (const { item } of batch) memory.forget(item.execution) // M3
      if (lockedOut(error)) {
        for (const one of batch) again(one, -IMPATIENCE) // the others go on without that wallet for a while
      } else if (classify(error) === 'transient') {
        for (const one of batch) {
          one.ambiguous = true // L3
          again(one, one.deferrals)
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      } else if (batch.length > 1) {
        for (const one of batch) await attempt([one]) // L4
      } else {
        const { item, ambiguous, answer } = batch[0]!
        observe.setAside({ id: item.execution }, error)
        answer({ kind: 'undecided', why: ambiguous ? 'unknown' : 'unavailable' })
      }
    }
  }

  function again(one: Waiting, deferrals: number): void {
    one.deferrals = deferrals
    one.reads = true
    batcher.add(one)
  }

  /** L1, L2 */
  async function decide(batch: Waiting[]): Promise<void> {
    const deferrals = Math.max(...batch.map((one) => one.deferrals))
    const patient = deferrals >= PATIENT_AFTER
    if (deferrals < LOCK_AFTER) return answerAll(batch, await readAndWrite(database.prisma, batch, patient))
    const decided = await database.prisma.$transaction(async (transaction) => {
      await callFunction(transaction, 'money.lock_executions_v1', {
        ids: [...new Set(batch.map(({ item }) => item.execution))],
      })
      return readAndWrite(transaction, batch, patient)
    })
    return answerAll(batch, decided)
  }

  async function readAndWrite(
    prisma: Pick<Database['prisma'], '$queryRawUnsafe'>,
    batch: Waiting[],
    patient: boolean,
  ): Promise<Decided> {
    const reading = await reader.know(
      prisma,
      batch.map(({ item }) => item),
      new Set(batch.flatMap(({ item, reads }) => (reads ? [item.execution] : []))),
    )
    const outcomes = new Map<Waiting, { outcome: ItemOutcome; change: ExecutionChange | null }>()
    const changes: ExecutionChange[] = []
    for (const [execution, of] of Map.groupBy(batch, ({ item }) => item.execution)) {
      const decided = await decideOne(
        reading,
        execution,
        of.map(({ item }) => item),
      )
      if (decided.change) changes.push(decided.change)
      of.forEach((one, n) => outcomes.set(one, { outcome: decided.outcomes[n]!, change: decided.change }))
    }
    if (changes.length === 0) return { reading, outcomes, written: new Map(), jobs: [] }
    const result = await writeExecutions(prisma, changes, {
      patient,
      nodesAtOnce: deps.nodesAtOnce,
      presumed: reading.presumed,
    })
    if (result.excessMicro > 0) observe.settledMore(result.excessMicro)
    for (let n = 0; n < result.fenced; n++) observe.fenced()
    if (deps.onCharged) tellCharges(deps.onCharged, batch, reading, result.charged)
    return { reading, outcomes, written: result.written, jobs: result.jobs }
  }

  async function decideOne(reading: ExecutionsRecollection, execution: string, items: FlowItem[]) {
    const facts = reading.executions.get(execution)
    if (!facts) return { outcomes: items.map(unknownExecution), change: null }
    const { plan, package: flow } = await deps.flows.of(facts.sandbox, facts.revision)
    return decideExecution({
      execution: facts,
      plan,
      requiredOutputs: flow.output.required ?? [],
      items,
      nowMs: reading.nowMs,
      living: reading.living,
      mintCall: deps.mintCall,
    })
  }

  async function answerAll(batch: Waiting[], { reading, outcomes, written, jobs }: Decided): Promise<void> {
    deps.tell.changed([...written.keys()], jobs) // L6
    remember({ reading, outcomes, written, jobs })
    for (const one of batch) {
      const { outcome, change } = outcomes.get(one)!
      const guessed = reading.guessed.has(one.item.execution)
      if (guessed && (change === null || !written.has(change))) again(one, one.deferrals) // M1
      else if (change !== null && !written.has(change)) again(one, one.deferrals + 1)
      else if (outcome.kind !== 'claimed') one.answer(outcome)
      else {
        const facts = reading.executions.get(one.item.execution)!
        const flow = await deps.flows.of(facts.sandbox, facts.revision)
        one.answer(answerClaim({ execution: facts, change, outcome, flow, sources: reading.sourcesOf.get(one.item)! }))
      }
    }
  }

  function remember({ reading, outcomes, written }: Decided): void {
    const changes = new Set([...outcomes.values()].flatMap(({ change }) => change ?? []))
    if (reading.presumed.size > 0 && written.size === 0) reader.doubtInstances()
    for (const change of changes) {
      const version = written.get(change)
      const { id } = change.execution
      if (reading.guessed.has(id)) memory.judge(id, version !== undefined)
      if (version === undefined) memory.forget(id)
      else memory.wrote(change, version, reading.nowMs)
    }
  }

  return {
    submit: ((item: FlowItem, budgetMs: number) =>
      new Promise((answer) => {
        batcher.add({ item, dropAtMs: now() + budgetMs, deferrals: 0, reads: false, ambiguous: false, answer })
      })) as NodeBatcher['submit'],
    waiting: batcher.waiting,
    drain: batcher.drain,
  }
}

interface Decided {
  reading: ExecutionsRecollection
  outcomes: Map<Waiting, { outcome: ItemOutcome; change: ExecutionChange | null }>
  written: Map<ExecutionChange, number>
  jobs: Parameters<Tell['changed']>[1]
}

function tellCharges(
  tell: (item: object, micro: number) => void,
  batch: Waiting[],
  { executions }: ExecutionsRecollection,
  charged: Map<string, number>,
): void {
  for (const { item } of batch) {
    if (item.op !== 'complete') continue
    const node = executions.get(item.execution)?.nodes.find(({ lease }) => lease === item.lease)
    const micro = node?.reservation ? charged.get(node.reservation) : undefined
    if (micro !== undefined) tell(item, micro)
  }
}

function unknownExecution({ op }: FlowItem): ItemOutcome {
  return { kind: op === 'complete' ? 'fenced' : 'nothing-to-do' }
}
