import type { StartAnswer, StartQuestion } from '@gateway/contracts/flow-reads'
import { refused, type Refused } from '@gateway/contracts/ledger-refusal'
import type { Database } from '@gateway/database/client'
import { classify } from '../../batch/classify-error.ts'
import type { Flows } from '../flows.ts'
import { openBatcher } from '../gather.ts'
import type { Tell } from '../tell.ts'
import { decideCaller, decideMeans, decideRevision } from './decide-start.ts'
import { readInput } from './read-input.ts'
import { readStarts, type StartFacts } from './start-facts.ts'
import { writeStarts, type FreshExecution } from './write-starts.ts'

// Runs begin many at a time, with one batch in flight.
//   S1  Facts are read at one moment, after the question came: what was revoked before it counts. Nothing is held, so no wallet is locked.
//   S2  The idempotency key is taken by its primary key. Whoever comes second, in this batch or on another replica, reads again
//       and finds the first.
//   S3  A question may be repeated by its id; it answers the same run.

export interface ExecutionStarter {
  start(question: StartQuestion): Promise<StartAnswer>
  waiting(): number
  drain(): Promise<void>
}

interface Deps {
  database: Pick<Database, 'prisma'>
  flows: Flows
  tell: Tell
  nodesAtOnce: number
  /** Open runs of one project; one more is refused as overloaded. */
  mostOpen: number
  /** Questions that may wait here; one more is refused as overloaded. */
  mostWaiting: number
  /** Told the key of each run that began. */
  noteUse: (key: string) => void
}

interface Waiting {
  question: StartQuestion
  resolve: (answer: StartAnswer) => void
  reject: (error: unknown) => void
}

const BATCH = 64

export function openExecutionStarter(deps: Deps): ExecutionStarter {
  const { database, mostOpen } = deps
  const batcher = openBatcher<Waiting>({ most: BATCH, run: startAll })

  /** Whoever asks hears of an error, and asks again. One question's error is not another's. */
  async function startAll(batch: Waiting[]): Promise<void> {
    try {
      await decideAll(batch)
    } catch (error) {
      if (batch.length > 1 && classify(error) === 'final') for (const one of batch) await startAll([one])
      else for (const { reject } of batch) reject(error)
    }
  }

  async function decideAll(batch: Waiting[]): Promise<void> {
    const questions = batch.map(({ question }) => question)
    const facts = await readStarts(database, questions, mostOpen)
    const fresh = new Map<FreshExecution, Waiting>()
    const later: Waiting[] = []
    const taken = new Set<string>()
    const begun = new Map<string, number>()
    const answers: [Waiting, StartAnswer][] = []
    await Promise.all(
      batch.map(async (one, n) => {
        const decided = await decide(one.question, facts[n]!)
        if ('kind' in decided || 'refused' in decided) answers.push([one, decided])
        else fresh.set(decided, one)
      }),
    )
    for (const [execution, one] of fresh) {
      const project = execution.facts.project!
      const already = begun.get(project) ?? 0
      if (!mayGoAlong(execution, taken)) later.push(one) // S2
      else if (execution.facts.open + already >= mostOpen) answers.push([one, refused('overloaded', {})])
      else {
        begun.set(project, already + 1)
        continue
      }
      fresh.delete(execution)
    }
    if (fresh.size > 0) {
      const { started, jobs } = await writeStarts(database, [...fresh.keys()], deps.nodesAtOnce)
      deps.tell.changed([], jobs)
      for (const [execution, one] of fresh) {
        if (!started.has(execution)) later.push(one) // S2
        else answers.push([one, startedOf(execution)])
      }
    }
    for (const [one, answer] of answers) one.resolve(answer)
    for (const one of later) batcher.add(one)
  }

  async function decide(question: StartQuestion, facts: StartFacts): Promise<StartAnswer | Refused | FreshExecution> {
    const decided = decideCaller(question, facts) ?? decideRevision(question, facts)
    if (decided !== null) return decided
    if (!facts.revision!.valid) return invalidGraph(question.sandbox, facts.revision!.number)
    const flow = await deps.flows.of(question.sandbox, facts.revision!.number)
    const input = await readInput(database, question, facts, flow)
    if ('refused' in input) return input
    const means = decideMeans(facts, mostOpen)
    if (means !== null) return means
    return { question, facts, plan: flow.plan, values: input.values }
  }

  /** Only a person who names a draft in the console comes here. */
  async function invalidGraph(sandbox: string, number: number): Promise<Refused> {
    const revision = await database.prisma.revision.findUniqueOrThrow({
      where: { sandbox_number: { sandbox, number } },
      select: { problems: true },
    })
    return refused('graph_invalid', {
      problems: JSON.parse(Buffer.from(revision.problems).toString()) as { message: string }[],
    })
  }

  function startedOf({ question, facts }: FreshExecution): StartAnswer {
    if (facts.key !== null) deps.noteUse(facts.key)
    const { chatOutput, number } = facts.revision!
    return {
      kind: 'started',
      execution: question.id,
      project: facts.project!,
      sandbox: question.sandbox,
      revision: number,
      key: facts.key,
      replayed: false,
      textField: question.surface === 'chat' ? chatOutput : null,
    }
  }

  return {
    start(question) {
      if (batcher.waiting() >= deps.mostWaiting) return Promise.resolve(refused('overloaded', {}))
      return new Promise((resolve, reject) => batcher.add({ question, resolve, reject }))
    },
    waiting: batcher.waiting,
    drain: batcher.drain,
  }
}

/** Of several under one idempotency key, or with one id, one goes along; the others find it with the next batch. */
function mayGoAlong({ question: { id, sandbox, idempotency }, facts }: FreshExecution, taken: Set<string>): boolean {
  const names = [id, ...(idempotency === null ? [] : [JSON.stringify([facts.project, sandbox, idempotency.key])])]
  if (names.some((name) => taken.has(name))) return false
  for (const name of names) taken.add(name)
  return true
}
