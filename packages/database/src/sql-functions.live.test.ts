import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { sqlFunctions } from './generated/sql-functions.ts'

const CATALOGUE = `
  SELECT n.nspname || '.' || p.proname AS name,
         array_agg(a.argument ORDER BY a.ord) FILTER (WHERE a.mode IS DISTINCT FROM 'o') AS arguments
    FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    LEFT JOIN LATERAL unnest(p.proargnames, p.proargmodes) WITH ORDINALITY AS a (argument, mode, ord) ON true
   WHERE n.nspname || '.' || p.proname = ANY ($1)
   GROUP BY p.oid, n.nspname, p.proname`

liveTest('the generated signatures match the arguments in a migrated database', async ({ database }) => {
  const rows = await ask(database.adminUrl, CATALOGUE, [Object.keys(sqlFunctions)])
  const catalogued = Object.fromEntries(
    (rows as { name: string; arguments: string[] | null }[]).map((row) => [row.name, row.arguments ?? []]),
  )
  expect(catalogued).toEqual(
    Object.fromEntries(Object.entries(sqlFunctions).map(([name, taken]) => [name, Object.keys(taken)])),
  )
})
