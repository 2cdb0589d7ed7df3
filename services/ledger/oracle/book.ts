import type { Reset } from '@gateway/pricing/spending-window'
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
export interface Budget extends Meter {
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
