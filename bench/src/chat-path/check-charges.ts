import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '@gateway/database/client'
import type { DurablePostgres } from '../stack/durable-postgres.ts'
import { checkBooks, formatFinding } from '../stack/ledger-parts.ts'
import type { Answered } from './call-paths.ts'

interface Deps {
  postgres: DurablePostgres
  project: string
  answered: Answered
  /** Expected charge of each call, in micro-USD. */
  charge: bigint
}

const QUIET_LIMIT_MS = 30_000
const ASK_EVERY_MS = 100

/**
 * Throws unless the ledger verifies and matches the responses: nothing is reserved, each call was charged once with the
 * same amount, and every completed call was charged. At its end the load aborts the calls in flight; those are charged
 * too, and are the only ones that it has not counted.
 */
export async function checkCharges({ postgres, project, answered, charge }: Deps): Promise<void> {
  const database = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-check' })
  const { prisma } = database
  try {
    const deadlineMs = performance.now() + QUIET_LIMIT_MS
    let wallet = await prisma.wallet.findUniqueOrThrow({ where: { project } })
    while (wallet.reserved > 0n && performance.now() < deadlineMs) {
      await wait(ASK_EVERY_MS)
      wallet = await prisma.wallet.findUniqueOrThrow({ where: { project } })
    }
    if (wallet.reserved > 0n) throw new Error(`${wallet.reserved} micro-USD are still held.`)

    const { findings } = await checkBooks(database, { whole: true })
    if (findings.length > 0) throw new Error(`The books do not add up:\n${findings.map(formatFinding).join('\n')}`)

    const charged = await prisma.attempt.groupBy({
      by: ['state', 'chargedMicro'],
      where: { project },
      _count: true,
      _sum: { chargedMicro: true },
    })
    const [only] = charged
    if (charged.length !== 1 || !only || only.state !== 'Settled' || only.chargedMicro !== charge)
      throw new Error(`Each call should have cost ${charge} micro-USD: ${inspect(charged)}`)
    if (wallet.settled !== only._sum.chargedMicro)
      throw new Error(`The wallet says ${wallet.settled} micro-USD, its calls add up to ${only._sum.chargedMicro}.`)
    const uncounted = only._count - answered.counted
    if (uncounted < 0 || uncounted > answered.cutAtMost)
      throw new Error(
        `${answered.counted} calls were answered and at most ${answered.cutAtMost} hung up on, but ${only._count} were charged.`,
      )
  } finally {
    await database.close()
  }
}

function inspect(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? String(field) : field))
}
