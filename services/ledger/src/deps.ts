import type { Backlog } from '@gateway/service-kit/async/batcher'
import type { Semaphore } from '@gateway/service-kit/async/semaphore'
import type { ClaimItem, ClaimOutcome, CompleteItem, CompleteOutcome } from '@gateway/ledger-protocol/flow-items'
import type { RerunAnswer, RerunQuestion, StartAnswer, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { Undecided } from '@gateway/ledger-protocol/ledger-outcomes'
import type { Database } from '@gateway/database/client'
import type { NodeQueue } from '@gateway/node-queue/node-queue'
import type { Notifier } from '@gateway/service-kit/notifier/notifier'
import type { Logger } from '@gateway/service-kit/process/logger'
import type { AdmissionItem, ClosingItem, Outcome } from './admissions/waiting-items.ts'
import type { Flow } from './executions/cache/flow.ts'
import type { CancelItem, OverdueItem, ReclaimItem } from './executions/nodes/node-item.ts'
import type { BegunExecution } from './executions/store/execution-facts.ts'
import type { Metrics } from './metrics.ts'
import type { WebhookSettings } from './webhooks/webhook-settings.ts'
import type { Quarantine } from './quarantine/quarantine.ts'

type Connections = Pick<Database, 'prisma' | 'sql'>

/** What has state, made once when the ledger starts. A function is imported, and takes what it uses of this first. */
export interface Deps {
  /** Connections of the admission batcher: one for each batch in flight. */
  admissions: Connections
  /** Two connections: of the node batcher and of the start batcher. */
  executions: Connections
  /** Connections for questions; those of another pool for what asks over them (operation-handlers.ts, maintenance-jobs.ts). */
  reads: Connections
  /** Connections of heartbeats, and of the maintenance that looks for the missing ones: nothing else delays them. */
  heartbeats: Connections
  /** Connections of what may wait for a wallet that others have locked: fundings, the barrier. */
  locking: Connections
  /** Connections of maintenance, in which a statement may take longer. */
  maintenance: Connections
  admissionBatcher: AdmissionBatcher
  nodeBatcher: NodeBatcher
  startBatcher: StartBatcher
  reruns: Reruns
  /** Those who follow executions ask again and again: a few at once, so that they leave connections to other questions. */
  followers: Semaphore
  packageCache: PackageCache
  quarantine: Quarantine
  keyUses: KeyUses
  webhookSettings: WebhookSettings
  notifier: Pick<Notifier, 'notify' | 'subscribe'>
  nodeQueue: Pick<NodeQueue, 'enqueue' | 'requeue'>
  metrics: Metrics
  log: Logger
  /** Monotonic milliseconds. */
  now: () => number
  newId: (prefix: string) => string
  /** Of this life of this replica; its instance monitor goes by it. */
  replicaId: string
}

/** admissions/admission-batcher.ts */
export interface AdmissionBatcher {
  submit(item: AdmissionItem | ClosingItem, budgetMs: number): Promise<Outcome>
  /**
   * Says which project an execution belongs to, so that its admissions take their turns with the project from the first
   * on.
   */
  introduceExecution(execution: string, project: string): void
  waiting(): Backlog & { admissions: number }
  /** Waits until nothing is left to decide. */
  drain(): Promise<void>
}

/** executions/nodes/node-batcher.ts */
export interface NodeBatcher {
  submit(item: ClaimItem, budgetMs: number): Promise<ClaimOutcome | Undecided>
  submit(item: CompleteItem, budgetMs: number): Promise<CompleteOutcome | Undecided>
  submit(item: ClaimItem | CompleteItem, budgetMs: number): Promise<ClaimOutcome | CompleteOutcome | Undecided>
  /** `cancelled`: it continues no more because of this item. */
  submit(item: CancelItem, budgetMs: number): Promise<{ kind: 'cancelled' | 'nothing-to-do' } | Undecided>
  submit(item: ReclaimItem | OverdueItem, budgetMs: number): Promise<unknown>
  /** Tells of an execution that this replica has just begun: the first claim of it needs no reading. */
  introduce(begun: BegunExecution): void
  waiting(): Backlog
  /** Waits until nothing is left to decide. */
  drain(): Promise<void>
}

/** executions/start/start-batcher.ts */
export interface StartBatcher {
  /** @throws the error of the batch, or one that says that the question waited for too long: it may be asked again */
  submit(question: StartQuestion): Promise<StartAnswer>
  waiting(): Backlog
  drain(): Promise<void>
}

/** executions/rerun/reruns.ts */
export interface Reruns {
  /** @throws an error of the database: it may be asked again */
  submit(question: RerunQuestion): Promise<RerunAnswer>
}

/** Which package of a revision. */
export interface PackageName {
  sandbox: string
  revision: number
  /** null: the package that was saved with the revision. */
  digest: string | null
}

/** executions/cache/package-cache.ts */
export interface PackageCache {
  /** @throws Error for a revision that has no such package */
  get(of: PackageName): Promise<Flow>
}

/** keys/read-caller.ts */
export interface KeyUses {
  note(key: string): void
  /** @throws the error of the database; the uses are kept for the next time */
  write(): Promise<void>
}
