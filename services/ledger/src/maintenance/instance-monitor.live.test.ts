import { describe, expect } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { databaseOf } from '@gateway/database/database-url'
import { test as tenantTest } from '../fixtures/ledger-test.ts'
import { openInstanceMonitor } from './instance-monitor.ts'

// The maintenance job goes by the clock of the database, so these tests set that clock: a function of the same name
// stands before Postgres's own in the search path of this database.

const LOOK_MS = 2_000
const DEAD_AFTER_MS = 15_000

const test = tenantTest
  .extend('clock', { scope: 'file' }, async ({ database, fixture }) => {
    await fixture.run(`
      CREATE SCHEMA set_clock;
      CREATE TABLE set_clock.ahead (by interval);
      INSERT INTO set_clock.ahead VALUES ('0');
      CREATE FUNCTION set_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS 'SELECT timestamptz ''2030-01-01 12:00Z'' + by FROM set_clock.ahead';
      GRANT USAGE ON SCHEMA set_clock TO PUBLIC;
      GRANT SELECT ON set_clock.ahead TO PUBLIC;
      ALTER DATABASE ${databaseOf(database.adminUrl)} SET search_path = set_clock, pg_catalog, public`)
    return {
      turn: (ms: number) => fixture.run(`UPDATE set_clock.ahead SET by = by + $1 * interval '1 millisecond'`, [ms]),
    }
  })
  /** A monitor that has looked for a minute, at instances that heartbeat all the time. */
  .extend('watch', async ({ database, fixture, clock, task }, { onCleanup }) => {
    const keeping = await openDatabase({ url: database.ledgerUrl, poolSize: 1 })
    onCleanup(keeping.close)
    const look = openInstanceMonitor({ heartbeats: keeping }).runOnce
    const [loud, quiet] = [`loud ${task.id}`, `quiet ${task.id}`]
    const heartbeat = (...instances: string[]) =>
      fixture.run(
        `INSERT INTO money.instances AS h (id, service, started_at, heartbeat_at, dead_after_ms)
         SELECT id, 'gateway', c, c, $2 FROM unnest($1::text[]) id, set_clock.clock_timestamp() c
         ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at WHERE h.ended_at IS NULL`,
        [instances, DEAD_AFTER_MS],
      )
    const living = async () => {
      const { rows } = await fixture.run('SELECT id FROM money.instances WHERE ended_at IS NULL ORDER BY id')
      return rows.map(({ id }: { id: string }) => id).filter((id: string) => id === loud || id === quiet)
    }
    /** One look, so much later; these instances have sent a heartbeat just before it. */
    const pass = async (ms: number, ...alive: string[]) => {
      await clock.turn(ms)
      await heartbeat(...alive)
      await look()
    }
    for (let n = 0; n < 30; n++) await pass(LOOK_MS, loud, quiet)
    return { loud, quiet, look, pass, living }
  })

describe('an instance', () => {
  test('that falls silent is ended once it has been silent for as long as it may, and not before', async ({
    watch,
  }) => {
    const { loud, quiet, pass, living } = watch
    for (let silentMs = LOOK_MS; silentMs <= DEAD_AFTER_MS; silentMs += LOOK_MS) {
      await pass(LOOK_MS, loud)
      expect(await living()).toEqual([loud, quiet])
    }
    await pass(LOOK_MS, loud)
    expect(await living()).toEqual([loud])
  })

  const gaps: [what: string, ms: number][] = [
    ['the ledger is frozen for longer than an instance may be silent', 17_000],
    ['the ledger is frozen for an hour', 3_600_000],
    ['the clock of the database jumps ahead by a day', 86_400_000],
    ['the clock of the database goes back by a minute', -60_000],
  ]
  for (const [what, ms] of gaps) {
    test(`lives on when ${what}: silence counts anew from the next look`, async ({ watch }) => {
      const { loud, quiet, look, pass, living } = watch
      await pass(ms)
      expect(await living()).toEqual([loud, quiet])
      await look() // at once again, before anybody could heartbeat
      expect(await living()).toEqual([loud, quiet])
      // Whoever heartbeats from now on lives; whoever does not is ended, as if it had fallen silent at the gap.
      let looks = 0
      while ((await living()).includes(quiet)) {
        await pass(LOOK_MS, loud)
        looks++
      }
      expect(await living()).toEqual([loud])
      const atOnce = Math.ceil(DEAD_AFTER_MS / LOOK_MS)
      expect(looks).toBeGreaterThanOrEqual(atOnce)
      if (ms > 0) expect(looks).toBeLessThanOrEqual(atOnce + 1)
    })
  }

  test('lives on when the database could not be asked meanwhile', async ({ watch, fixture, clock }) => {
    const { loud, quiet, look, pass, living } = watch
    await fixture.run('ALTER TABLE money.instances RENAME TO instances_away')
    for (let n = 0; n < 10; n++) {
      await clock.turn(LOOK_MS)
      await expect(look()).rejects.toThrow(/instances/)
    }
    await fixture.run('ALTER TABLE money.instances_away RENAME TO instances')
    await pass(LOOK_MS)
    expect(await living()).toEqual([loud, quiet])
  })
})
