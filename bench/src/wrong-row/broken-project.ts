import { setTimeout as delay } from 'node:timers/promises'
import { backOffMs } from '@gateway/service-kit/async/waiting'
import type { Database } from '@gateway/database/client'
import { admission, settlement } from '../hot-wallet/items.ts'
import type { BenchFixture, BenchWallet } from '../hot-wallet/wallets.ts'
import { retrySetAside, type AdmissionBatcher, type SetAside } from '../stack/ledger-parts.ts'

// A project with calls in flight whose wallet says that nothing is reserved: no settlement of it can be written.

interface Parts {
  admissionBatcher: AdmissionBatcher
  setAside: SetAside
  /** As the ledger's role. */
  reads: Database
  /** As the owner of the tables. */
  run: (sql: string, values: unknown[]) => Promise<unknown>
  fixture: BenchFixture
  wallet: BenchWallet
}

const OPEN = 40
const CALLERS = 8
const BUDGET_MS = 5_000
/** Of closings, as packages/ledger-client/src/ledger-client.ts has it. */
const BACK_OFF = { firstMs: 25, maxMs: 2_000 }
/** Of a caller who was refused. */
const PAUSE_MS = 50
const RETRY_MS = 1_000

export async function breakProject(parts: Parts) {
  const { admissionBatcher, setAside, reads, run, fixture, wallet } = parts
  const ids: string[] = []
  for (let n = 0; n < OPEN; n++) {
    const item = admission(fixture, wallet, n)
    const { kind } = await admissionBatcher.submit(item, BUDGET_MS)
    if (kind !== 'admitted') throw new Error(`a call of the project to break was ${kind}`)
    ids.push(item.id)
  }
  await run('UPDATE money.wallets SET reserved = 0 WHERE project = $1', [wallet.project])
  const seen: Record<string, number> = {}
  const count = (kind: string) => void (seen[kind] = (seen[kind] ?? 0) + 1)
  let ended = false

  /** Repeats a settlement as a gateway does, until it is decided. */
  async function settle(id: string): Promise<void> {
    for (let tries = 1; !ended; tries++) {
      const { kind } = await admissionBatcher.submit(settlement(id), BUDGET_MS)
      count(`settlements ${kind}`)
      if (kind !== 'undecided') return
      await delay(backOffMs(tries, BACK_OFF))
    }
  }

  async function call(): Promise<void> {
    for (let n = 0; !ended; n++) {
      const item = admission(fixture, wallet, n)
      const { kind } = await admissionBatcher.submit(item, BUDGET_MS)
      count(`calls ${kind}`)
      if (kind === 'admitted') void settle(item.id)
      await delay(PAUSE_MS)
    }
  }

  async function retry(): Promise<void> {
    for (; !ended; await delay(RETRY_MS))
      await retrySetAside({ reads, setAside, admissionBatcher, nodeBatcher: NO_NODES })
  }

  const load = [...ids.map(settle), ...Array.from({ length: CALLERS }, call), retry()]
  return {
    /** What its items were answered, counted by kind. */
    seen,
    /** Its callers leave. What they left unsettled is kept. */
    async end(): Promise<void> {
      ended = true
      await Promise.all(load)
    },
    /** Mends the row, and settles what is kept. Answers how much was. */
    async mend(): Promise<number> {
      await run(
        `UPDATE money.wallets SET reserved = (
           SELECT coalesce(sum(micro), 0) FROM money.reservations WHERE project = $1) WHERE project = $1`,
        [wallet.project],
      )
      await run('UPDATE money.set_aside_items SET next_try_at = now()', [])
      return (await retrySetAside({ reads, setAside, admissionBatcher, nodeBatcher: NO_NODES })).written
    },
  }
}

const NO_NODES = {
  submit: () => {
    throw new Error('there are no nodes here')
  },
} as unknown as Parameters<typeof retrySetAside>[0]['nodeBatcher']
