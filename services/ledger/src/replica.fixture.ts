import { randomBytes } from 'node:crypto'
import { mintId } from '@gateway/contracts/ids'
import type { AdmitNodeItem } from '@gateway/contracts/flow-items'
import type { AdmitItem, SettleItem } from '@gateway/contracts/ledger-items'
import type { AdmitNodeOutcome, AdmitOutcome } from '@gateway/contracts/ledger-outcomes'
import { openDatabase } from '@gateway/database/client'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { openAdmissionBatcher, type BatcherLimits } from './batch/admission-batcher.ts'
import { batchRunner, type RunBatch } from './batch/run-batch.ts'
import type { Outcome } from './batch/waiting-items.ts'
import { recordHeartbeat } from './instances.ts'
import { replayFinisher } from './reads/saved-answers.ts'

// One ledger replica as tests need it: its batchers on a real database, without the door in front.

const LIMITS: BatcherLimits = {
  admissionBatcher: 1,
  batchItems: 512,
  batchBytes: 1024 * 1024,
  waitingAdmissions: 10_000,
}

export type Replica = Awaited<ReturnType<typeof openReplica>>

interface Options {
  limits?: Partial<BatcherLimits>
  /** Stands in the road of each batch, for tests that need to look at it or to hold it up. */
  around?: (execution: RunBatch) => RunBatch
  preparedStatements?: boolean
  now?: () => number
}

export async function openReplica(
  url: string,
  {
    limits = {},
    around = (execution) => execution,
    preparedStatements = true,
    now = () => performance.now(),
  }: Options = {},
) {
  const database = await openDatabase({
    url,
    poolSize: limits.admissionBatcher ?? LIMITS.admissionBatcher,
    preparedStatements,
  })
  const reads = await openDatabase({ url, poolSize: 2, preparedStatements })
  const setAside: string[] = []
  const admissionBatcher = openAdmissionBatcher({
    runBatch: around(batchRunner(database)),
    finishReplays: replayFinisher(reads),
    limits: { ...LIMITS, ...limits },
    now,
    observe: { batch() {}, settledMore() {}, fenced() {}, setAside: (item) => setAside.push(item.id) },
  })
  const instance = mintId('ins', Date.now(), randomBytes(10))
  await recordHeartbeat(reads)({ instance, service: 'gateway', deadAfterMs: 15_000 })

  return {
    admissionBatcher,
    reads,
    instance,
    setAside,
    admit: (item: AdmitItem, budgetMs = 10_000) => admissionBatcher.submit(item, budgetMs) as Promise<AdmitOutcome>,
    admitNode: (item: AdmitNodeItem) => admissionBatcher.submit(item, 10_000) as Promise<AdmitNodeOutcome>,
    settle: (id: string, usage = { promptTokens: 10, completionTokens: 10 }, answer: SettleItem['answer'] = null) =>
      admissionBatcher.submit({ op: 'settle', id, usage: { ...usage, estimated: false }, answer }, 10_000),
    release: (id: string) => admissionBatcher.submit({ op: 'release', id, reason: 'test' }, 10_000),
    expire: (id: string) => admissionBatcher.submit({ op: 'expire', id }, 10_000),
    /** An admission by this replica's instance; what a test does not say is small and plain. */
    item: (key: KeyFixture, model: string, more: Partial<AdmitItem> & { maxTokens?: number } = {}): AdmitItem => {
      const { maxTokens = 100, ...rest } = more
      return {
        op: 'admit',
        id: mintId('inv', Date.now(), randomBytes(10)),
        instance,
        keyHash: key.hash,
        selector: null,
        model,
        parameters: [],
        promptSize: { bytes: 100, messages: 1, tools: 0, images: 0, counted: null, maxTokens },
        idempotency: null,
        ...rest,
      }
    },
    close: async () => {
      await admissionBatcher.drain()
      await database.close()
      await reads.close()
    },
  }
}

/** `admitted`, or the code of the refusal. */
export function codeOf(outcome: Outcome): string {
  return outcome.kind === 'refused' ? outcome.code : outcome.kind
}

export function countCodes(outcomes: Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[codeOf(outcome)] = (counts[codeOf(outcome)] ?? 0) + 1
  return counts
}
