// Errors of Postgres have an SQLSTATE; those of a lost connection have none. Prisma wraps both.

/**
 * Errors that pass by themselves: lost connections, shutdown and start-up, deadlocks, timeouts, too many connections.
 */
const TRANSIENT = /^(08|25006|25P04|40001|40P01|53|55P03|57014|57P0|58)/

/** A stored row that cannot be used. Reading it again returns the same. */
export class WrongRow extends Error {}

/**
 * `transient`: a retry may succeed, and it is unknown whether the batch was written.
 * `final`: a constraint refused it or it is a bug; nothing was written.
 */
export function classify(error: unknown): 'transient' | 'final' {
  const state = sqlState(error)
  if (state === null) return isUnusable(error) ? 'final' : 'transient'
  return TRANSIENT.test(state) ? 'transient' : 'final'
}

/** Bugs and unusable rows do not pass by themselves. */
const STAYS = [TypeError, RangeError, SyntaxError, WrongRow]

/** What is wrong was read for this item alone, such as a package: Postgres refused nothing. */
export function isUnusable(error: unknown): boolean {
  return STAYS.some((kind) => error instanceof kind)
}

/** The batch exceeded the statement timeout: nothing was written, and a retry may take as long. */
export function ranOutOfTime(error: unknown): boolean {
  return sqlState(error) === '57014'
}

/** The batch waited too long for another session's lock: nothing was written. */
export function lockedOut(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

/** Excludes Prisma's own codes (P1001 to P5xxx; P0001 is Postgres's) and those of sockets (EPIPE). */
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
