import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { sqlFunctions } from './sql-functions.ts'

// An argument without a mode: the function answers none of its arguments.
const CATALOGUE = `
  SELECT n.nspname || '.' || p.proname AS name,
         CASE a.mode WHEN 'o' THEN 'answers ' ELSE 'takes ' END || a.argument || ' ' || format_type(a.type, NULL) AS line
    FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    CROSS JOIN unnest(p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[]), p.proargmodes)
         WITH ORDINALITY AS a (argument, type, mode, ord)
   WHERE n.nspname || '.' || p.proname = ANY ($1)
   ORDER BY a.ord`

liveTest('a function that services call takes and answers what the catalogue says', async ({ database }) => {
  const rows = await ask(database.adminUrl, CATALOGUE, [Object.keys(sqlFunctions)])
  const inCatalogue = Object.groupBy(rows as { name: string; line: string }[], ({ name }) => name)
  for (const [name, { takes, answers }] of Object.entries(sqlFunctions)) {
    const taken = Object.entries(takes).map(([argument, type]) => `takes ${argument} ${type.replace(' | null', '')}`)
    const answered = Object.entries(answers).map(([column, type]) => `answers ${column} ${type.replace(' | null', '')}`)
    const catalogued = inCatalogue[name]?.map(({ line }) => line)
    expect({ name, signature: catalogued }).toEqual({ name, signature: [...taken, ...answered] })
  }
})
