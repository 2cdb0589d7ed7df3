import type { Backlog } from '@gateway/service-kit/async/batcher'
import type { FairSemaphore } from '@gateway/service-kit/async/fair-semaphore'
import type { ClaimItem, ClaimOutcome, CompleteItem, CompleteOutcome } from '@gateway/ledger-protocol/flow-items'
import type { RerunAnswer, RerunQuestion, StartAnswer, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { Undecided } from '@gateway/ledger-protocol/ledger-outcomes'
import type { Database } from '@gateway/database/client'
import type { NodeQueue } from '@gateway/node-queue/node-queue'
import type { Notifier } from '@gateway/service-kit/notifier/notifier'
import type { Logger } from '@gateway/service-kit/process/logger'
import type { Receipts } from './admissions/receipts.ts'
import type { AdmissionItem, ClosingItem, Outcome } from './admissions/waiting-items.ts'
import type { Flow } from './executions/cache/flow.ts'
import type { CancelItem, OverdueItem, ReclaimItem } from './executions/nodes/node-item.ts'
import type { BegunExecution } from './executions/store/read-executions.ts'
import type { QuotaValues } from '@gateway/api/quotas'
import type { Metrics } from './metrics.ts'
import type { WebhookSettings } from './webhooks/webhook-settings.ts'
import type { WebhookAttempts } from './webhooks/webhook-attempts.ts'
import type { Quarantine } from './quarantine/quarantine.ts'

type Connections = Pick<Database, 'prisma' | 'sql'>

/** Everything with state, created once when the ledger starts. Functions take the parts they use as first parameter. */
export interface Deps {
  /** Connections of the admission batcher: one for each batch in flight. */
  admissions: Connections
  /** Two connections: one for the node batcher, one for the start batcher. */
  executions: Connections
  /**
   * Connections for reads. operation-handlers.ts and maintenance-jobs.ts pass some operations another pool under this
   * name.
   */
  reads: Connections
  /** Connections for heartbeats and their monitoring only, so that nothing else delays them. */
  heartbeats: Connections
  /** Connections for operations that may wait for a locked wallet: fundings, the barrier. */
  locking: Connections
  /** Connections for maintenance, with a longer statement timeout. */
  maintenance: Connections
  admissionBatcher: AdmissionBatcher
  nodeBatcher: NodeBatcher
  startBatcher: StartBatcher
  reruns: Reruns
  /**
   * Limits concurrent reads by followers of executions, who poll, so that other reads get connections. Projects take
   * turns.
   */
  followers: FairSemaphore
  packageCache: PackageCache
  receipts: Receipts
  quarantine: Quarantine
  keyUses: KeyUses
  keptBytes: KeptBytes
  webhookSettings: WebhookSettings
  /** The operator's defaults (`QUOTAS`). */
  quotas: QuotaValues
  webhookAttempts: WebhookAttempts
  notifier: Pick<Notifier, 'notify' | 'subscribe' | 'send' | 'received' | 'sent'>
  nodeQueue: Pick<NodeQueue, 'enqueue' | 'requeue'>
  metrics: Metrics
  log: Logger
  /** Monotonic milliseconds. */
  now: () => number
  newId: (prefix: string) => string
  /** New at each start of this replica; its instance monitor is known by it. */
  replicaId: string
}

/** admissions/admission-batcher.ts */
export interface AdmissionBatcher {
  submit(item: AdmissionItem | ClosingItem, budgetMs: number): Promise<Outcome>
  /**
   * Sets the project of an execution, so that even its first admission shares the project's turns.
   */
  introduceExecution(execution: string, project: string): void
  waiting(): Backlog & { admissions: number }
  /** Resolves once nothing is left to decide. */
  drain(): Promise<void>
}

/** executions/nodes/node-batcher.ts */
export interface NodeBatcher {
  submit(item: ClaimItem, budgetMs: number): Promise<ClaimOutcome | Undecided>
  submit(item: CompleteItem, budgetMs: number): Promise<CompleteOutcome | Undecided>
  submit(item: ClaimItem | CompleteItem, budgetMs: number): Promise<ClaimOutcome | CompleteOutcome | Undecided>
  /** `cancelled`: this item stopped the execution. */
  submit(item: CancelItem, budgetMs: number): Promise<{ kind: 'cancelled' | 'nothing-to-do' } | Undecided>
  submit(item: ReclaimItem | OverdueItem, budgetMs: number): Promise<unknown>
  /** Caches an execution that this replica has just started, so that its first claim needs no read. */
  introduce(begun: BegunExecution): void
  waiting(): Backlog
  /** Resolves once nothing is left to decide. */
  drain(): Promise<void>
}

/** executions/start/start-batcher.ts */
export interface StartBatcher {
  /** @throws the error of the batch, or an error if the question waited for too long; it may be retried */
  submit(question: StartQuestion): Promise<StartAnswer>
  waiting(): Backlog
  drain(): Promise<void>
}

/** executions/rerun/reruns.ts */
export interface Reruns {
  /** @throws an error of the database; the question may be retried */
  submit(question: RerunQuestion): Promise<RerunAnswer>
}

/** Identifies a package of a revision. */
export interface PackageName {
  sandbox: string
  revision: number
  /** null: the package that was saved with the revision. */
  digest: string | null
}

/** executions/cache/load-executions.ts */
export interface PackageCache {
  /** @throws Error if the revision has no such package */
  get(of: PackageName): Promise<Flow>
}

/** executions/kept-bytes.ts */
export interface KeptBytes {
  note(project: string, bytes: number): void
  /** @throws the error of the database; the bytes are kept for the next attempt */
  write(): Promise<void>
}

/** keys/read-caller.ts */
export interface KeyUses {
  note(key: string): void
  /** @throws the error of the database; the uses are kept for the next attempt */
  write(): Promise<void>
}
