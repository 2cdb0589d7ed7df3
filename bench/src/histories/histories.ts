import type { BenchDeps } from '../bench.ts'
import { describeRun } from '../report/machine.ts'
import { durablePostgres } from '../stack/durable-postgres.ts'
import { playHistories } from '../stack/ledger-parts.ts'

// Random histories, decided by SQL and by the pure function, until the time is up: admissions, settlements, releases,
// nodes, fundings, rotations, revocations, ended instances. Ends at the first difference, with the seed that reproduces
// it.

const OPERATIONS_A_ROUND = 100_000

export async function histories({ options: { rounds }, stops, log }: BenchDeps): Promise<string> {
  log('Starting a private Postgres')
  const postgres = await durablePostgres(stops)
  const wanted = rounds * OPERATIONS_A_ROUND
  const startMs = performance.now()
  let reported = 0
  const { operations, missing } = await playHistories(postgres, wanted, (done) => {
    if (done < reported + OPERATIONS_A_ROUND) return
    reported = done
    log(`${done.toLocaleString('en-US')} operations of ${wanted.toLocaleString('en-US')}`)
  })
  if (missing.length > 0) throw new Error(`These outcomes never came: ${missing.join(', ')}.`)
  const minutes = (performance.now() - startMs) / 60_000
  return `${await describeRun(new Date())}

${operations.toLocaleString('en-US')} random operations on two replicas in ${minutes.toFixed(1)} minutes: every outcome, balance, meter and
reservation as the pure decision has it, the books checked after each history. **0 violations**; every outcome there is was seen.
`
}
