import { createHash } from 'node:crypto'
import { costMicro } from '@gateway/pricing/price'

// Derives what a wallet must contain from its journal only: sums, the gapless count of entries, and the seals.

export interface Checkpoint {
  seq: bigint
  /** When its last entry was written; null: there is none, or the time was not recorded. */
  at: Date | null
  funded: bigint
  reserved: bigint
  settled: bigint
  seal: Buffer
}

/** A journal entry with the other records of the same event; null if there is no such record. */
export interface Entry {
  seq: bigint
  at: Date
  kind: 'fund' | 'correct' | 'reserve' | 'settle' | 'release'
  reference: string
  available: bigint
  reserved: bigint
  settled: bigint
  outside: bigint
  /** The seal of the block that ends with this entry. */
  seal: Uint8Array | null
  funding_micro: bigint | null
  correction_micro: bigint | null
  state: 'Settled' | 'Released' | null
  reserved_micro: bigint | null
  charged_micro: bigint | null
  lineage: string | null
  window_start: Date | null
  /** Budgets that the charge counted towards, each with its window. */
  budgets: { id: string; windowStart: Date }[]
  prompt_tokens: bigint | null
  completion_tokens: bigint | null
  prompt_pico: bigint | null
  completion_pico: bigint | null
  request_pico: bigint | null
  cached_tokens: bigint | null
  reasoning_tokens: bigint | null
  cache_write_tokens: bigint | null
  cached_pico: bigint | null
  reasoning_pico: bigint | null
  cache_write_pico: bigint | null
  /** The ceiling of the execution whose node was charged, and the charges of all its nodes; null: it has no ceiling. */
  ceiling_micro: bigint | null
  execution_micro: bigint | null
}

export interface Finding {
  what: string
  /** Where in the journal, or which row. */
  where: string
  expectedMicro: bigint
  foundMicro: bigint
  /** The block of the journal in which it was found; undefined: it is about a balance. */
  block?: FoundIn
}

/** A block of a journal: the entries after an entry and its seal, up to the last one. */
export interface FoundIn {
  after: bigint
  seal: Buffer
  last: bigint
}

export const emptyBook: Checkpoint = { seq: 0n, at: null, funded: 0n, reserved: 0n, settled: 0n, seal: Buffer.alloc(0) }

/** Amounts spent per lineage and window, according to the entries. A budget goes by its ID in place of a lineage. */
export type SpentByWindow = Map<string, { lineage: string; windowStart: Date; micro: bigint }>

/** Whether a window is that of a budget. */
export function isOfBudget(lineage: string): boolean {
  return lineage.startsWith('bud_')
}

export function windowName(lineage: string, windowStart: Date): string {
  return `${lineage} ${windowStart.toISOString()}`
}

/**
 * Folds entries, in order, onto a checkpoint. Only complete blocks count: entries after the last seal are left for the
 * next step, so a step may end anywhere.
 */
export function foldJournal(
  from: Checkpoint,
  entries: Entry[],
): { to: Checkpoint; spent: SpentByWindow; findings: Finding[] } {
  const findings: Finding[] = []
  const spent: SpentByWindow = new Map()
  let to = from
  let block: Entry[] = []
  for (const entry of entries) {
    block.push(entry)
    if (!entry.seal) continue
    to = foldBlock(to, block, spent, findings)
    block = []
  }
  return { to, spent, findings }
}

function foldBlock(from: Checkpoint, block: Entry[], spent: SpentByWindow, findings: Finding[]): Checkpoint {
  let { seq, funded, reserved, settled } = from
  const last = block.at(-1)!
  const found: FoundIn = { after: from.seq, seal: from.seal, last: last.seq }
  for (const entry of block) {
    const complain: Complain = (what, expectedMicro, foundMicro) =>
      findings.push({ what, where: placeOf(entry), expectedMicro, foundMicro, block: found })
    if (entry.seq !== seq + 1n) complain('entries are missing before this one', seq + 1n, entry.seq)
    seq = entry.seq
    funded -= entry.outside
    reserved += entry.reserved
    settled += entry.settled
    compareWithBooks(entry, complain)
    if (entry.kind === 'settle') {
      if (entry.lineage && entry.window_start) addSpent(spent, entry.lineage, entry.window_start, entry.settled)
      for (const { id, windowStart } of entry.budgets) addSpent(spent, id, windowStart, entry.settled)
    }
  }
  const seal = createHash('sha256').update(from.seal).update(block.map(textOf).join('\n')).digest()
  if (!seal.equals(last.seal!))
    findings.push({
      what: 'the seal does not match its entries',
      where: placeOf(last),
      expectedMicro: 0n,
      foundMicro: 0n,
      block: found,
    })
  return { seq, at: last.at, funded, reserved, settled, seal: Buffer.from(last.seal!) }
}

type Complain = (what: string, expectedMicro: bigint, foundMicro: bigint) => void

function placeOf({ seq, kind, reference }: Entry): string {
  return `journal entry ${seq} (${kind} ${reference})`
}

/** Returns the text that is sealed. Must match money.admit, close_batch, fund and correct. */
function textOf({ seq, kind, reference, reserved, settled, outside }: Entry): string {
  return `${seq} ${kind} ${reference} ${reserved} ${settled} ${-outside}`
}

function compareWithBooks(entry: Entry, complain: Complain): void {
  switch (entry.kind) {
    case 'fund':
      if (entry.funding_micro !== -entry.outside)
        complain('the funding record differs from the entry', -entry.outside, entry.funding_micro ?? 0n)
      break
    case 'correct':
      if (entry.correction_micro !== -entry.outside)
        complain('the correction record differs from the entry', -entry.outside, entry.correction_micro ?? 0n)
      break
    case 'settle':
      if (entry.charged_micro !== entry.settled)
        complain('the usage record has a different charge', entry.settled, entry.charged_micro ?? 0n)
      else if (entry.settled !== derivedCharge(entry))
        complain('the charge differs from the cost of its usage', derivedCharge(entry), entry.settled)
      if (entry.reserved_micro !== -entry.reserved)
        complain('the usage record has a different reservation', -entry.reserved, entry.reserved_micro ?? 0n)
      if (entry.ceiling_micro !== null && (entry.execution_micro ?? 0n) > entry.ceiling_micro)
        complain('the execution was charged more than its ceiling', entry.ceiling_micro, entry.execution_micro ?? 0n)
      break
    case 'release':
      if (entry.state !== 'Released') complain('the usage record is not released', 0n, entry.charged_micro ?? 0n)
      if (entry.reserved_micro !== -entry.reserved)
        complain('the usage record has a different reservation', -entry.reserved, entry.reserved_micro ?? 0n)
      break
    case 'reserve':
      if (entry.reserved_micro !== entry.reserved)
        complain('the reserved amount differs from the reservation', entry.reserved, entry.reserved_micro ?? 0n)
      break
  }
}

function addSpent(spent: SpentByWindow, lineage: string, windowStart: Date, micro: bigint): void {
  const name = windowName(lineage, windowStart)
  const before = spent.get(name)
  spent.set(name, { lineage, windowStart, micro: (before?.micro ?? 0n) + micro })
}

/** Returns the cost of the recorded usage at the recorded price, capped at the reserved amount (money §3.2). */
function derivedCharge(entry: Entry): bigint {
  const price = {
    promptPico: entry.prompt_pico ?? 0n,
    completionPico: entry.completion_pico ?? 0n,
    requestPico: entry.request_pico ?? 0n,
    cachedPico: entry.cached_pico,
    reasoningPico: entry.reasoning_pico,
    cacheWritePico: entry.cache_write_pico,
  }
  const parts = {
    cachedTokens: entry.cached_tokens ?? 0n,
    cacheWriteTokens: entry.cache_write_tokens ?? 0n,
    reasoningTokens: entry.reasoning_tokens ?? 0n,
  }
  const cost = costMicro(price, entry.prompt_tokens ?? 0n, entry.completion_tokens ?? 0n, parts)
  return cost < -entry.reserved ? cost : -entry.reserved
}

// Compares rows that were summed up from a journal with the journal itself: derives them again in steps, so that no
// snapshot stays open for long, and compares row by row.

/** A row by name, with its figures in a fixed order. */
export interface Summed {
  name: string
  figures: bigint[]
}

/** A row that differs from the journal. */
export interface Differing {
  name: string
  expected: bigint[]
  found: bigint[]
}

interface Derivation {
  /** Reads the stored rows and the last entry they contain, in one snapshot. */
  read(): Promise<{ seq: bigint; rows: Summed[] }>
  /** Derives the rows from the entries after `from` up to `last`. */
  derive(from: bigint, last: bigint): Promise<Summed[]>
}

const STEP = 20_000n

/** Returns the rows that differ. Rows that grow meanwhile are derived again. @param after the entry to start after */
export async function deriveAgain({ read, derive }: Derivation, after: bigint): Promise<Differing[]> {
  const expected = new Map<string, bigint[]>()
  for (let at = after; ;) {
    const { seq, rows } = await read()
    if (at >= seq) return differing(expected, rows)
    while (at < seq) {
      const last = at + STEP < seq ? at + STEP : seq
      for (const row of await derive(at, last)) addTo(expected, row)
      at = last
    }
  }
}

function addTo(rows: Map<string, bigint[]>, { name, figures }: Summed): void {
  const before = rows.get(name)
  rows.set(name, before ? figures.map((figure, n) => figure + before[n]!) : figures)
}

function differing(expected: ReadonlyMap<string, bigint[]>, rows: Summed[]): Differing[] {
  const found = new Map(rows.map(({ name, figures }) => [name, figures]))
  const names = [...new Set([...found.keys(), ...expected.keys()])]
  return names
    .map((name) => {
      const none = (found.get(name) ?? expected.get(name)!).map(() => 0n)
      return { name, expected: expected.get(name) ?? none, found: found.get(name) ?? none }
    })
    .filter(({ expected: one, found: other }) => one.some((figure, n) => figure !== other[n]))
}
