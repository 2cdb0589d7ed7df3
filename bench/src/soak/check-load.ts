import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '@gateway/database/client'
import { checkBooks, formatFinding } from '../stack/ledger-parts.ts'

interface Deps {
  ledgerUrl: string
  /** Calls with status 200, of all projects. */
  answered: number
  /** Whether calls may have been refused after their admission. */
  mayRelease?: boolean
}

const QUIET_LIMIT_MS = 30_000
const ASK_EVERY_MS = 100

/**
 * Throws unless nothing is reserved, the ledger verifies, and exactly the calls with status 200 were charged: no
 * refused call was.
 */
export async function checkLoad({ ledgerUrl, answered, mayRelease = false }: Deps): Promise<void> {
  const database = await openDatabase({ url: ledgerUrl, poolSize: 1, role: 'bench-check' })
  const { prisma } = database
  try {
    const deadlineMs = performance.now() + QUIET_LIMIT_MS
    while ((await prisma.reservation.count()) > 0) {
      if (performance.now() > deadlineMs) throw new Error('Money is still held.')
      await wait(ASK_EVERY_MS)
    }
    const { findings } = await checkBooks(database, { whole: true })
    if (findings.length > 0) throw new Error(`The books do not add up:\n${findings.map(formatFinding).join('\n')}`)
    const charged = await prisma.attempt.count({ where: { chargedMicro: { gt: 0n } } })
    const all = await prisma.attempt.count()
    if (charged !== answered || (all !== answered && !mayRelease))
      throw new Error(`${answered} calls were answered, ${charged} were charged, and ${all} are in the books.`)
  } finally {
    await database.close()
  }
}
