// Postgres answers with an SQLSTATE; a lost connection answers with none. Prisma wraps both.

/** What passes by itself: lost connections, shutdown and start-up, deadlocks, lock time-outs, too many connections. */
const TRANSIENT = /^(08|40001|40P01|53|55P03|57P0|58)/

/**
 * `transient`: the same may succeed in a moment, and it is open whether it was written.
 * `final`: it was refused by a constraint or is a bug, and nothing was written.
 */
export function classify(error: unknown): 'transient' | 'final' {
  const state = sqlState(error)
  return state === null || TRANSIENT.test(state) ? 'transient' : 'final'
}

function sqlState(error: unknown): string | null {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth++) {
    const { meta, code, originalCode, cause, driverAdapterError } = at as Record<string, unknown>
    const metaCode = typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>)['code'] : undefined
    for (const found of [metaCode, originalCode, code])
      if (typeof found === 'string' && /^[0-9A-Z]{5}$/.test(found) && !/^P\d{4}$/.test(found)) return found
    at = cause ?? driverAdapterError ?? (meta as Record<string, unknown> | undefined)?.['driverAdapterError']
  }
  return null
}
