import { Pool } from 'undici'
import type { AdmitItem, ReleaseItem, SettleItem } from '@gateway/contracts/ledger-items'
import type { AdmitNodeOutcome, AdmitOutcome, ReleaseOutcome, SettleOutcome } from '@gateway/contracts/ledger-outcomes'
import type {
  AdmitNodeItem,
  ClaimItem,
  ClaimOutcome,
  CompleteItem,
  CompleteOutcome,
} from '@gateway/contracts/flow-items'
import type {
  AssetAnswer,
  AssetQuestion,
  AssetRecordAnswer,
  AssetRecordQuestion,
  ExecutionAnswer,
  ExecutionQuestion,
  FollowAnswer,
  FollowQuestion,
  SandboxAnswer,
  SandboxQuestion,
  StartAnswer,
  StartQuestion,
  UsageAnswer,
  UsageQuestion,
} from '@gateway/contracts/flow-reads'
import type {
  Heartbeat,
  CallerQuestion,
  Funding,
  KeyAnswer,
  ModelsAnswer,
  WalletAnswer,
} from '@gateway/contracts/ledger-reads'
import { askingLedger } from './ask-ledger.ts'
import { openBatcher } from './item-batcher.ts'
import { openTokenSource, type ServiceName } from './service-token.ts'
import { openItemSubmitter } from './submit-items.ts'

export interface LedgerClientOptions {
  /** The ledger's base address. */
  url: string
  service: ServiceName
  /** What this service signs its tokens with; at least 32 characters. */
  secret: string
  /** Unix milliseconds. */
  now?: () => number
  /** Requests of items that may be open at once, those included that have begun to answer. */
  connections?: number
  /** Requests of items that may wait for their first outcome; while they do, items gather. */
  maxInFlight?: number
  /** Admissions that may wait to be sent; the next one is refused as overloaded. */
  maxWaiting?: number
  /** How long `close` waits for what is not decided yet. */
  closeGraceMs?: number
}

export interface Budget {
  /** How long the caller waits. Milliseconds. */
  budgetMs: number
  /** The span that asks, as W3C Trace Context writes it: the ledger's own becomes a part of it. */
  traceparent?: string | undefined
}

/** The ledger, to its callers. Every call may throw LedgerUnavailable, and LedgerRejected where caller and ledger disagree on the wire. */
export interface LedgerClient {
  /**
   * Asks for a reservation. Each asking takes an id of its own; only after `instance-unknown` it is repeated with the same.
   * @throws LedgerUnavailable when the ledger gave no decision: nothing stays reserved
   */
  admit(item: Omit<AdmitItem, 'op'>, budget: Budget): Promise<AdmitOutcome>
  /**
   * Charges a reservation. Repeated until the budget ends; without one, until the client closes.
   * @throws LedgerUnavailable when neither brought an answer: whether it was charged is not known
   */
  settle(item: Omit<SettleItem, 'op'>, budget?: Budget): Promise<SettleOutcome>
  /** Gives a reservation back. Repeated like `settle`. */
  release(item: Omit<ReleaseItem, 'op'>, budget?: Budget): Promise<ReleaseOutcome>
  /**
   * Takes a node of a run. May be repeated with the same lease.
   * @throws LedgerUnavailable when the ledger gave no decision: the node may be claimed
   */
  claim(item: Omit<ClaimItem, 'op'>, budget: Budget): Promise<ClaimOutcome>
  /**
   * Asks for a reservation for the call of a claimed node. May be repeated with the same id, as while it waits for money that
   * other calls hold.
   * @throws LedgerUnavailable when the ledger gave no decision: it may be held, and `complete` gives it back
   */
  admitNode(item: Omit<AdmitNodeItem, 'op'>, budget: Budget): Promise<AdmitNodeOutcome>
  /** Records how a claimed node ended, and closes its reservation. Repeated like `settle`. */
  complete(item: Omit<CompleteItem, 'op'>, budget?: Budget): Promise<CompleteOutcome>
  models(question: CallerQuestion, budget?: Budget): Promise<ModelsAnswer>
  key(question: CallerQuestion, budget?: Budget): Promise<KeyAnswer>
  /**
   * Begins a run, or names the one that an idempotency key began before.
   * @throws LedgerUnavailable when the ledger gave no answer: the run may have begun
   */
  startExecution(question: StartQuestion, budget?: Budget): Promise<StartAnswer>
  followExecution(question: FollowQuestion, budget?: Budget): Promise<FollowAnswer>
  readExecution(question: ExecutionQuestion, budget?: Budget): Promise<ExecutionAnswer>
  readUsage(question: UsageQuestion, budget?: Budget): Promise<UsageAnswer>
  readSandbox(question: SandboxQuestion, budget?: Budget): Promise<SandboxAnswer>
  recordAsset(question: AssetRecordQuestion, budget?: Budget): Promise<AssetRecordAnswer>
  readAsset(question: AssetQuestion, budget?: Budget): Promise<AssetAnswer>
  heartbeat(heartbeat: Heartbeat, budget?: Budget): Promise<{ alive: boolean }>
  endInstance(instance: string, budget?: Budget): Promise<void>
  fund(funding: Funding, budget?: Budget): Promise<{ fresh: boolean; micro: number }>
  /** Answers once no admission that read older facts of these projects can still be under way. */
  barrier(projects: string[], budget?: Budget): Promise<void>
  wallet(project: string, budget?: Budget): Promise<WalletAnswer>
  /** Waits for what is not decided yet, then closes the connections. */
  close(): Promise<void>
}

/** How long a question waits if nobody says so. */
export const ASK_BUDGET: Budget = { budgetMs: 5_000 }
/** As long as the client is open. */
export const NO_END: Budget = { budgetMs: Infinity }
const CONNECT_MS = 2_000
const ASK_CONNECTIONS = 4
/** Runs are started and followed by as many as there are callers. */
const EXECUTION_CONNECTIONS = 16

/** Opens the way to the ledger. Connections are made when they are needed. */
export function openLedgerClient({
  url,
  service,
  secret,
  now = Date.now,
  connections = 16,
  maxInFlight = 3,
  maxWaiting = 10_000,
  closeGraceMs = 5_000,
}: LedgerClientOptions): LedgerClient {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/+$/, '')
  const token = openTokenSource({ service, secret, now })
  // Time limits are each item's own; undici's would end a request under items that may still wait.
  const pool = (size: number) =>
    new Pool(origin, { connections: size, connect: { timeout: CONNECT_MS }, headersTimeout: 0, bodyTimeout: 0 })
  const itemsPool = pool(connections)
  const asksPool = pool(ASK_CONNECTIONS) // apart, so that a heartbeat waits behind no crowd
  const batcher = openBatcher({
    pool: itemsPool,
    path: `${base}/items`,
    token,
    maxInFlight,
    maxRequests: connections,
  })
  const items = openItemSubmitter({ batcher, maxWaiting, now })
  const closing = new AbortController()
  const executionsPool = pool(EXECUTION_CONNECTIONS)
  const ask = askingLedger({ pool: asksPool, base, token, closed: closing.signal })
  const askOfExecutions = askingLedger({ pool: executionsPool, base, token, closed: closing.signal })

  return {
    admit: (item, { budgetMs, traceparent }) => items.open('admit', item, budgetMs, traceparent),
    settle: (item, { budgetMs, traceparent } = NO_END) => items.close('settle', item, budgetMs, traceparent),
    release: (item, { budgetMs, traceparent } = NO_END) => items.close('release', item, budgetMs, traceparent),
    claim: (item, { budgetMs, traceparent }) => items.open('claim', item, budgetMs, traceparent),
    admitNode: (item, { budgetMs, traceparent }) => items.open('admit-node', item, budgetMs, traceparent),
    complete: (item, { budgetMs, traceparent } = NO_END) => items.close('complete', item, budgetMs, traceparent),
    models: (question, { budgetMs } = ASK_BUDGET) => ask('/models', question, budgetMs),
    key: (question, { budgetMs } = ASK_BUDGET) => ask('/keys/read', question, budgetMs),
    startExecution: (question, { budgetMs, traceparent } = ASK_BUDGET) =>
      askOfExecutions('/executions/start', question, budgetMs, traceparent),
    followExecution: (question, { budgetMs } = ASK_BUDGET) => askOfExecutions('/executions/follow', question, budgetMs),
    readExecution: (question, { budgetMs } = ASK_BUDGET) => askOfExecutions('/executions/read', question, budgetMs),
    readUsage: (question, { budgetMs } = ASK_BUDGET) => askOfExecutions('/executions/usage', question, budgetMs),
    readSandbox: (question, { budgetMs } = ASK_BUDGET) => askOfExecutions('/sandboxes/read', question, budgetMs),
    recordAsset: (question, { budgetMs, traceparent } = ASK_BUDGET) =>
      askOfExecutions('/assets/record', question, budgetMs, traceparent),
    readAsset: (question, { budgetMs } = ASK_BUDGET) => askOfExecutions('/assets/read', question, budgetMs),
    heartbeat: (heartbeat, { budgetMs } = ASK_BUDGET) => ask('/instances/heartbeat', heartbeat, budgetMs),
    async endInstance(instance, { budgetMs } = ASK_BUDGET) {
      await ask('/instances/end', { instance }, budgetMs)
    },
    fund: (funding, { budgetMs } = ASK_BUDGET) => ask('/fundings', funding, budgetMs),
    async barrier(projects, { budgetMs } = ASK_BUDGET) {
      await ask('/barrier', { projects }, budgetMs)
    },
    wallet: (project, { budgetMs } = ASK_BUDGET) => ask('/wallets/read', { project }, budgetMs),
    async close() {
      let timer: NodeJS.Timeout | undefined
      await Promise.race([items.idle(), new Promise<void>((resolve) => (timer = setTimeout(resolve, closeGraceMs)))])
      clearTimeout(timer)
      items.stop()
      batcher.stop()
      closing.abort()
      await Promise.all([itemsPool.destroy(), asksPool.destroy(), executionsPool.destroy()])
    },
  }
}
