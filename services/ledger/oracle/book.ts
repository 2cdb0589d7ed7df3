import type { Reset } from '@gateway/pricing/spending-window'
import type { Price } from '@gateway/pricing/price'
import type { Overheads } from '@gateway/pricing/upper-bound'

// The books as the decision sees them, in memory. money.run_batch has the same in tables.

export interface KeyFacts {
  id: string
  project: string | null
  lineage: string
  policy: 'all-eligible' | 'listed'
  resources: ReadonlySet<string>
  limit: { micro: bigint; reset: Reset } | null
  expiresAtMs: number | null
  revoked: boolean
  rotated: { graceUntilMs: number | null } | null
  issuerAuthorized: boolean
}

export interface ProductFacts {
  id: string
  price: Price
  overheads: Overheads
  /** false: it makes images or sounds at a price per request, and its context bounds nothing. */
  bounded: boolean
  contextLength: bigint
  maxOutputTokens: bigint
  supportedParameters: ReadonlySet<string>
}

/** In whose name an execution runs: a key, by its lineage, or a user in the console. */
export interface ExecutionFacts {
  project: string
  /** The hash of its key; null: a user's. */
  keyHash: string | null
  /** The user still has a role on the project that may invoke. */
  userAuthorized: boolean
  /** It has neither ended nor begun to fail. */
  goesOn: boolean
  /** What its nodes may be charged together; null: no ceiling. */
  maxMicro: bigint | null
}

export interface NodeFacts {
  /** null: no one runs it. */
  lease: string | null
  attempt: number
  call: string
  /** Under which it may reserve; null: any. */
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

export interface Reservation {
  id: string
  invocation: string
  attempt: number
  project: string
  key: string
  lineage: string
  /** null: its key has no limit. */
  windowStartMs: number | null
  product: string
  instance: string
  micro: bigint
  outputCap: bigint
  /** Tokens of the prompt at most, less the factor of its product. */
  promptTokens: bigint
  price: Price
  /** `execution node`; null: a direct call. */
  node: string | null
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
  /** What executions may call, of any kind: `project model` → the product. */
  callableByExecutions: ReadonlyMap<string, ProductFacts>
  executions: ReadonlyMap<string, ExecutionFacts>
  /** `execution node` → what is known of it. */
  nodes: ReadonlyMap<string, NodeFacts>
  /** `execution node` of each that was charged. */
  chargedNodes: Set<string>
  /** By product, in millionths; one that is missing has none. */
  factors: Map<string, bigint>
  liveInstances: ReadonlySet<string>
  wallets: Map<string, Wallet>
  meters: Map<string, Meter>
  open: Map<string, Reservation>
  closed: Map<string, Closed>
  /** By project, what its users want to learn of. */
  thresholds: ReadonlyMap<string, { below: bigint[]; percents: bigint[] }>
  /** What they were reported, as `kind of threshold`: of a project, or of a lineage and the start of its window. */
  notices: string[]
  /** What was served and is charged to no one: `reservation kind` → micro-USD. */
  writeOffs: Map<string, bigint>
  /** `project key` → the first call under it and its newest attempt. */
  idempotency: Map<string, { fingerprint: string; invocation: string; reservation: string }>
}

export function availableIn(wallet: Wallet | undefined): bigint {
  return wallet ? wallet.funded - wallet.reserved - wallet.settled : 0n
}
