import { openDatabase } from '@gateway/database/client'
import type { BenchDeps } from '../bench.ts'
import { median } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table } from '../report/table.ts'
import { sayTargets } from '../report/targets.ts'
import { durablePostgres } from '../stack/durable-postgres.ts'
import { checkBooks, sayFinding } from '../stack/ledger-parts.ts'
import { withFixture } from '../stack/with-fixture.ts'

// How long a round of the check of the books takes: where nothing has moved, where few wallets have, and the turn in which
// wallets that stand still are compared. Beside it lie open reservations and meters of all of them.

const WALLETS = 4_000
const MOVED = 10
const OPEN = 20_000
const FUNDS = 1_000_000

export async function checkRound({ options, stops, tell }: BenchDeps): Promise<string> {
  tell(`Building ${WALLETS} wallets with ${OPEN} open reservations`)
  const postgres = await durablePostgres(stops)
  const database = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-check' })
  stops.add(database.close)

  return withFixture(postgres.adminUrl, async ({ run }) => {
    await run(`SELECT money.fund('p' || n, 'f', ${FUNDS}, 'bench') FROM generate_series(1, ${WALLETS}) n`)
    await run(RESERVE)
    await run('ANALYZE')

    const round = async () => {
      const startMs = performance.now()
      const { wallets, findings } = await checkBooks(database)
      const tookMs = performance.now() - startMs
      if (findings.length > 0) throw new Error(`The books do not add up:\n${findings.map(sayFinding).join('\n')}`)
      return { wallets, tookMs }
    }
    const first = await round()
    const figures: Record<string, number[]> = { still: [], moved: [], compared: [] }
    for (let n = 1; n <= options.rounds; n++) {
      figures['still']!.push((await round()).tookMs)
      await run(`SELECT money.fund('p' || w, 'f${n}', 1, 'bench') FROM generate_series(1, ${MOVED}) w`)
      const { wallets, tookMs } = await round()
      if (wallets !== MOVED) throw new Error(`${wallets} wallets were looked at, and ${MOVED} had moved.`)
      figures['moved']!.push(tookMs)
      await run(`UPDATE money.checked_wallets SET checked_at = checked_at - interval '2 hours'`)
      figures['compared']!.push((await round()).tookMs)
      tell(`Round ${n} of ${options.rounds}`)
    }
    const [still, moved, compared] = ['still', 'moved', 'compared'].map((name) => median(figures[name]!))
    return [
      await describeRun(new Date()),
      table(
        [`${WALLETS} wallets, ${OPEN} open reservations`, 'a round'],
        [
          ['the first: every wallet', ms(first.tookMs)],
          ['none has moved', ms(still!)],
          [`${MOVED} have moved`, ms(moved!)],
          ['none has moved, and 2000 are compared in their hour', ms(compared!)],
        ],
      ),
      sayTargets([
        { what: `a round of which ${MOVED} have moved`, wanted: 1_000, found: moved!, better: 'less', say: ms },
      ]),
    ].join('\n\n')
  })
}

/** Five open reservations of a micro-USD a wallet, each with its entry and block, as admissions write them. */
const RESERVE = `
  DO $$
  DECLARE n integer;
  BEGIN
    FOR n IN 1 .. ${OPEN / WALLETS} LOOP
      WITH entry AS (
        SELECT project, journal_seq + 1 AS seq, 'r' || project || '_' || n AS id,
               sha256(seal || convert_to((journal_seq + 1) || ' reserve ' || 'r' || project || '_' || n || ' 1 0 0', 'UTF8')) AS seal
          FROM money.wallets
      ), reserved AS (
        INSERT INTO money.reservations (id, invocation, attempt, project, key, lineage, window_start, product, instance, micro,
                                        output_cap, prompt_pico, completion_pico, request_pico, keyed, admitted_at, deadline_at)
        SELECT id, id, 1, project, project, project, '2026-01-01', 'm', 'i', 1, 1, 0, 0, 0, false, now(), now() + interval '1 hour'
          FROM entry
      ), metered AS (
        INSERT INTO money.meters (lineage, project, window_start, limit_micro, reserved)
        SELECT project, project, '2026-01-01', 1000, 1 FROM entry
        ON CONFLICT (lineage) DO UPDATE SET reserved = money.meters.reserved + 1
      ), written AS (
        INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
        SELECT project, seq, 'reserve', id, -1, 1, 0, 0, now() FROM entry
      ), sealed AS (
        INSERT INTO money.journal_blocks (project, last_seq, seal) SELECT project, seq, seal FROM entry
      )
      UPDATE money.wallets w SET reserved = w.reserved + 1, journal_seq = e.seq, seal = e.seal FROM entry e WHERE e.project = w.project;
    END LOOP;
  END $$`
