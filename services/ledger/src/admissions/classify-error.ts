// Postgres answers with an SQLSTATE; a lost connection answers with none. Prisma wraps both.

/** What passes by itself: lost connections, shutdown and start-up, deadlocks, lock time-outs, too many connections. */
const TRANSIENT = /^(08|25006|25P04|40001|40P01|53|55P03|57014|57P0|58)/

/** What is stored cannot be used. Reading it again finds the same. */
export class WrongRow extends Error {}

/**
 * `transient`: the same may succeed in a moment, and it is open whether it was written.
 * `final`: it was refused by a constraint or is a bug, and nothing was written.
 */
export function classify(error: unknown): 'transient' | 'final' {
  const state = sqlState(error)
  if (state === null) return STAYS.some((kind) => error instanceof kind) ? 'final' : 'transient'
  return TRANSIENT.test(state) ? 'transient' : 'final'
}

/** A bug stays one, and so does a wrong row. */
const STAYS = [TypeError, RangeError, SyntaxError, WrongRow]

/** The batch ran into the time limit of a statement: nothing was written, and the same may take as long again. */
export function ranOutOfTime(error: unknown): boolean {
  return sqlState(error) === '57014'
}

/** The batch waited too long for a lock of someone else: nothing was written. */
export function lockedOut(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

/** Neither Prisma's own codes (P1001 to P5xxx; P0001 is Postgres's) nor those of sockets (EPIPE). */
const SQLSTATE = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/

function sqlState(error: unknown): string | null {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth++) {
    const { meta, code, originalCode, cause, driverAdapterError } = at as Record<string, unknown>
    const metaCode = typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>)['code'] : undefined
    for (const found of [metaCode, originalCode, code])
      if (typeof found === 'string' && SQLSTATE.test(found)) return found
    at = cause ?? driverAdapterError ?? (meta as Record<string, unknown> | undefined)?.['driverAdapterError']
  }
  return null
}
