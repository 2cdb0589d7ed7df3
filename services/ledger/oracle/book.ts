import { type Reset, windowStartMs } from '@gateway/pricing/spending-window'
import type { Price } from '@gateway/pricing/price'
import type { Overheads } from '@gateway/pricing/upper-bound'

// The books as the decision sees them, in memory. money.run_batch reads the same facts from tables.

export interface KeyFacts {
  id: string
  project: string | null
  lineage: string
  policy: 'all-eligible' | 'listed'
  resources: ReadonlySet<string>
  limit: { micro: bigint; reset: Reset } | null
  expiresAtMs: number | null
  revoked: boolean
  paused: boolean
  rotated: { graceUntilMs: number | null } | null
  issuerAuthorized: boolean
  /** Its creator. */
  user: string
  /** Of its calls; null: each may name one. */
  tag: string | null
}

export interface ProductFacts {
  id: string
  price: Price
  overheads: Overheads
  /** false: it generates images or audio at a price per request, so its context length does not bound a call. */
  bounded: boolean
  contextLength: bigint
  maxOutputTokens: bigint
  supportedParameters: ReadonlySet<string>
  takesFiles: boolean
}

/** An execution runs on behalf of a key, by its lineage, or of a user in the console. */
export interface ExecutionFacts {
  project: string
  /** The hash of its key; null: a user started it. */
  keyHash: string | null
  /** The user who started it; null: a key did. */
  user: string | null
  /** Whether the user still has a role on the project that may invoke. */
  userAuthorized: boolean
  /** Whether it has neither ended nor started to fail. */
  goesOn: boolean
  /** Maximum total charge of its nodes; null: no ceiling. */
  maxMicro: bigint | null
}

export interface NodeFacts {
  /** null: no worker runs it. */
  lease: string | null
  attempt: number
  call: string
  /** The id under which it may reserve; null: any. */
  reservation: string | null
}

export interface Wallet {
  funded: bigint
  reserved: bigint
  settled: bigint
}

export interface Meter {
  windowStartMs: number
  spent: bigint
  reserved: bigint
}

/** What a user, team or tag may spend in a month, and what it has spent and reserved. */
interface Budget extends Meter {
  /** `kind subject`; null: it was removed. */
  target: string | null
  limit: bigint
  hard: boolean
}

/** The window of a budget that a call counts towards. */
export interface BudgetWindow {
  id: string
  windowStartMs: number
}

export interface Reservation {
  id: string
  invocation: string
  attempt: number
  project: string
  key: string
  lineage: string
  /** null: the key has no limit. */
  windowStartMs: number | null
  product: string
  instance: string
  micro: bigint
  outputCap: bigint
  /** Upper bound of the prompt's tokens, without the factor of its product; null: it was restored from a receipt. */
  promptTokens: bigint | null
  price: Price
  /** `execution node`; null: it is for a direct call. */
  node: string | null
  /** By id. */
  budgets: BudgetWindow[]
}

export interface Closed {
  invocation: string
  attempt: number
  state: 'Settled' | 'Released'
  chargedMicro: bigint
  /** null: a tombstone. */
  price: Price | null
  node: string | null
}

export interface Book {
  /** By the SHA-256 of the secret, hex. */
  keys: ReadonlyMap<string, KeyFacts>
  /** Callable chat products: `project model` → the product. */
  callable: ReadonlyMap<string, ProductFacts>
  /** Products of any kind that executions may call: `project model` → the product. */
  callableByExecutions: ReadonlyMap<string, ProductFacts>
  executions: ReadonlyMap<string, ExecutionFacts>
  /** `execution node` → the facts of the node. */
  nodes: ReadonlyMap<string, NodeFacts>
  /** `execution node` of each charged node. */
  chargedNodes: Set<string>
  /** By product, in millionths; a product that is missing has no factor. */
  factors: Map<string, bigint>
  liveInstances: ReadonlySet<string>
  wallets: Map<string, Wallet>
  meters: Map<string, Meter>
  /** Of the one organization, by id. */
  budgets: Map<string, Budget>
  team: string
  open: Map<string, Reservation>
  closed: Map<string, Closed>
  /** By project: the thresholds at which its users are notified. */
  thresholds: ReadonlyMap<string, { below: bigint[]; percents: bigint[] }>
  /** Notices sent, as `kind of threshold`: of a project, or of a lineage or budget and the start of its window. */
  notices: string[]
  /** Calls served but charged to no one: `reservation kind` → micro-USD. */
  writeOffs: Map<string, bigint>
  /** `project key` → the first call under this idempotency key and its newest attempt. */
  idempotency: Map<string, { fingerprint: string; invocation: string; reservation: string }>
}

export function availableIn(wallet: Wallet | undefined): bigint {
  return wallet ? wallet.funded - wallet.reserved - wallet.settled : 0n
}

// What a call does to the monthly budgets of its user, team and tag (B12 of run_batch).

/** Returns the windows that a call of this user and tag counts towards, by the ids of their budgets. */
export function budgetsOf(book: Book, user: string | null, tag: string | null, nowMs: number): BudgetWindow[] {
  const targets = [`user ${user}`, `team ${book.team}`, `tag ${tag}`]
  const month = windowStartMs('monthly', nowMs)
  return [...book.budgets]
    .filter(([, { target }]) => target !== null && targets.includes(target))
    .map(([id, budget]) => ({ id, windowStartMs: Math.max(month, budget.windowStartMs) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** Returns what a budget leaves in a window; null: it does not bind. */
export function leftInBudget(book: Book, { id, windowStartMs: start }: BudgetWindow): bigint | null {
  const budget = book.budgets.get(id)!
  const { spent, reserved } = inWindow(budget, start)
  return budget.hard ? budget.limit - spent - reserved : null
}

export function reserveInBudgets(book: Book, windows: BudgetWindow[], micro: bigint): void {
  for (const { id, windowStartMs: start } of windows) {
    const budget = book.budgets.get(id)!
    const { spent, reserved } = inWindow(budget, start)
    book.budgets.set(id, { ...budget, windowStartMs: start, spent, reserved: reserved + micro })
  }
}

/**
 * Ends a reservation in the windows that have not ended, and notes a notice for each threshold that is reached by then,
 * unless the budget was removed.
 */
export function closeInBudgets(book: Book, windows: BudgetWindow[], micro: bigint, charged: bigint): void {
  for (const window of windows) {
    const { id, windowStartMs: start } = window
    const budget = book.budgets.get(id)!
    if (budget.windowStartMs !== start) continue
    const spent = budget.spent + charged
    book.budgets.set(id, { ...budget, reserved: budget.reserved - micro, spent })
    if (budget.target === null) continue
    for (const percent of [80n, 100n]) if (spent * 100n >= percent * budget.limit) notify(book, window, percent)
  }
}

/**
 * Notes the notice of a budget, 80 percent spent, that refuses a call of this bound, unless the call would fit after those
 * in progress.
 */
export function refuseByBudget(book: Book, { id, windowStartMs: start }: BudgetWindow, micro: bigint): void {
  const budget = book.budgets.get(id)!
  const { spent } = inWindow(budget, start)
  if (spent * 100n >= 80n * budget.limit && spent + micro > budget.limit)
    notify(book, { id, windowStartMs: start }, 100n)
}

function notify(book: Book, { id, windowStartMs: start }: BudgetWindow, percent: bigint): void {
  const notice = `budget.percent ${id} ${start} ${book.budgets.get(id)!.limit} ${percent}`
  if (!book.notices.includes(notice)) book.notices.push(notice)
}

function inWindow({ windowStartMs: start, spent, reserved }: Budget, wanted: number) {
  return start === wanted ? { spent, reserved } : { spent: 0n, reserved: 0n }
}

// The thresholds that an entry has crossed, once it is booked. money.notify_threshold_crossings must agree.

/** @param fallen decrease of the wallet's remaining balance by this entry; negative if it rose */
export function notifyLowWallet(book: Book, project: string, fallen: bigint): void {
  const wallet = book.wallets.get(project)!
  const remaining = wallet.funded - wallet.settled
  for (const threshold of book.thresholds.get(project)?.below ?? [])
    if (remaining < threshold && remaining + fallen >= threshold)
      book.notices.push(`wallet.below ${project} ${threshold}`)
}

/** @param charged amount that this entry has spent in the window of the reservation */
export function notifyFullWindow(book: Book, { project, lineage }: Reservation, charged: bigint): void {
  const { spent, windowStartMs } = book.meters.get(lineage)!
  const limit = [...book.keys.values()].find((key) => key.lineage === lineage && key.limit !== null)!.limit!.micro
  for (const percent of book.thresholds.get(project)?.percents ?? [])
    if (spent * 100n >= percent * limit && (spent - charged) * 100n < percent * limit)
      book.notices.push(`key.percent ${lineage} ${windowStartMs} ${percent}`)
}
