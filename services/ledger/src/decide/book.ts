import type { Reset } from '@gateway/money/spending-window'
import type { Price } from '@gateway/money/price'
import type { Overheads } from '@gateway/money/upper-bound'

// The books as the decision sees them, in memory. money.run_batch_v1 holds the same in tables.

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
  issuerStands: boolean
}

export interface ProductFacts {
  id: string
  price: Price
  overheads: Overheads
  contextLength: bigint
  maxOutputTokens: bigint
  supportedParameters: ReadonlySet<string>
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
  holder: string
  micro: bigint
  outputCap: bigint
  price: Price
}

export interface Closed {
  invocation: string
  attempt: number
  state: 'Settled' | 'Released'
  chargedMicro: bigint
  /** null: a tombstone. */
  price: Price | null
}

export interface Book {
  /** By the SHA-256 of the secret, hex. */
  keys: ReadonlyMap<string, KeyFacts>
  /** Callable chat products: `project model` → the product. */
  callable: ReadonlyMap<string, ProductFacts>
  liveHolders: ReadonlySet<string>
  wallets: Map<string, Wallet>
  meters: Map<string, Meter>
  open: Map<string, Reservation>
  closed: Map<string, Closed>
  /** `project key` → the first call under it and its newest attempt. */
  idempotency: Map<string, { fingerprint: string; invocation: string; reservation: string }>
}

export function availableIn(wallet: Wallet | undefined): bigint {
  return wallet ? wallet.funded - wallet.reserved - wallet.settled : 0n
}
