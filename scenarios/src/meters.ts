import type { Stack } from './stack.ts'

/** Meter of a key lineage in the books; micro-USD. */
export async function meterOf({ fixture }: Pick<Stack, 'fixture'>, lineage: string) {
  const { rows } = await fixture.run(
    'SELECT spent, reserved, limit_micro, window_start FROM money.meters WHERE lineage = $1',
    [lineage],
  )
  const [meter] = rows as { spent: string; reserved: string; limit_micro: string; window_start: Date }[]
  if (rows.length !== 1 || !meter) throw new Error(`${rows.length} meters of ${lineage}`)
  return {
    spent: BigInt(meter.spent),
    reserved: BigInt(meter.reserved),
    limit: BigInt(meter.limit_micro),
    windowStart: meter.window_start,
  }
}

/**
 * Moves the history of a lineage one window into the past, as if that window had ended: the database's clock can't be moved. A lifetime
 * window never ends, so only its admissions move.
 */
export async function windowPasses(
  { fixture }: Pick<Stack, 'fixture'>,
  lineage: string,
  reset: 'daily' | 'weekly' | 'monthly' | 'lifetime',
): Promise<void> {
  const [ago, back] = {
    daily: ['1 day', '1 day'],
    weekly: ['7 days', '7 days'],
    monthly: ['1 month', '1 month'],
    lifetime: ['10 years', '0'],
  }[reset] as [string, string]
  const rows = `admitted_at = admitted_at - interval '${ago}', window_start = window_start - interval '${back}'`
  // The books are append-only. A superuser session in replica mode skips the triggers that enforce it.
  await fixture.run(`
    BEGIN;
    SET LOCAL session_replication_role = replica;
    UPDATE money.attempts SET ${rows} WHERE lineage = '${lineage}';
    UPDATE money.reservations SET ${rows} WHERE lineage = '${lineage}';
    UPDATE money.meters SET window_start = window_start - interval '${back}' WHERE lineage = '${lineage}';
    COMMIT`)
}
