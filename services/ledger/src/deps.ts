import type { Tracer } from '@opentelemetry/api'
import type { Database } from '@gateway/database/client'
import type { NodeQueue } from '@gateway/node-queue/node-queue'
import type { Notifier } from '@gateway/notifier/notifier'
import type { Logger } from '@gateway/process/logger'
import type { AdmissionBatcher } from './admissions/admission-batcher.ts'
import type { PackageCache } from './executions/cache/package-cache.ts'
import type { NodeBatcher } from './executions/nodes/node-batcher.ts'
import type { StartBatcher } from './executions/start/start-batcher.ts'
import type { KeyUses } from './keys/key-uses.ts'
import type { Metrics } from './metrics.ts'
import type { LedgerTrace } from './trace.ts'

type Connections = Pick<Database, 'prisma'>

/** What has state, made once when the ledger starts. A function is imported, and takes what it uses of this first. */
export interface Deps {
  /** Connections of the admission batcher: one for each batch in flight. */
  admissions: Connections
  /** Two connections: of the node batcher and of the start batcher. */
  executions: Connections
  /** Connections for questions and for maintenance. */
  reads: Connections
  admissionBatcher: AdmissionBatcher
  nodeBatcher: NodeBatcher
  startBatcher: StartBatcher
  packageCache: PackageCache
  keyUses: KeyUses
  notifier: Pick<Notifier, 'notify'>
  nodeQueue: Pick<NodeQueue, 'enqueue'>
  metrics: Metrics
  /** null: nothing is traced. */
  tracer: Tracer | null
  trace: LedgerTrace | null
  log: Logger
  /** Monotonic milliseconds. */
  now: () => number
  newId: (prefix: string) => string
}
