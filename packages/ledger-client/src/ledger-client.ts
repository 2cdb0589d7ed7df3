import { Pool } from 'undici'
import type { AdmitItem, ReleaseItem, SettleItem } from '@gateway/contracts/ledger-items'
import type { AdmitOutcome, ReleaseOutcome, SettleOutcome } from '@gateway/contracts/ledger-outcomes'
import type {
  Beat,
  CallerQuestion,
  Funding,
  KeyAnswer,
  ModelsAnswer,
  WalletAnswer,
} from '@gateway/contracts/ledger-reads'
import { askingLedger } from './ask-ledger.ts'
import { openGatherer } from './gather-items.ts'
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
}

/** The ledger, to its callers. Every call may throw LedgerUnavailable, and LedgerRejected where caller and ledger disagree on the wire. */
export interface LedgerClient {
  /**
   * Asks for a reservation. Each asking takes an id of its own; only after `holder-unknown` it is repeated with the same.
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
  models(question: CallerQuestion, budget?: Budget): Promise<ModelsAnswer>
  key(question: CallerQuestion, budget?: Budget): Promise<KeyAnswer>
  beat(beat: Beat, budget?: Budget): Promise<{ alive: boolean }>
  endHolder(holder: string, budget?: Budget): Promise<void>
  fund(funding: Funding, budget?: Budget): Promise<{ fresh: boolean; micro: number }>
  /** Answers once no admission that read older facts of these projects can still be under way. */
  barrier(projects: string[], budget?: Budget): Promise<void>
  wallet(project: string, budget?: Budget): Promise<WalletAnswer>
  /** Waits for what is not decided yet, then closes the connections. */
  close(): Promise<void>
}

const ASK_BUDGET: Budget = { budgetMs: 5_000 }
const NO_END: Budget = { budgetMs: Infinity }
const CONNECT_MS = 2_000
const ASK_CONNECTIONS = 4

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
  const gatherer = openGatherer({
    pool: itemsPool,
    path: `${base}/items`,
    token,
    maxInFlight,
    maxRequests: connections,
  })
  const items = openItemSubmitter({ gatherer, maxWaiting, now })
  const closing = new AbortController()
  const ask = askingLedger({ pool: asksPool, base, token, closed: closing.signal })

  return {
    admit: (item, { budgetMs }) => items.admit(item, budgetMs),
    settle: (item, { budgetMs } = NO_END) => items.settle(item, budgetMs),
    release: (item, { budgetMs } = NO_END) => items.release(item, budgetMs),
    models: (question, { budgetMs } = ASK_BUDGET) => ask('/models', question, budgetMs),
    key: (question, { budgetMs } = ASK_BUDGET) => ask('/keys/read', question, budgetMs),
    beat: (beat, { budgetMs } = ASK_BUDGET) => ask('/holders/beat', beat, budgetMs),
    async endHolder(holder, { budgetMs } = ASK_BUDGET) {
      await ask('/holders/end', { holder }, budgetMs)
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
      gatherer.stop()
      closing.abort()
      await Promise.all([itemsPool.destroy(), asksPool.destroy()])
    },
  }
}
