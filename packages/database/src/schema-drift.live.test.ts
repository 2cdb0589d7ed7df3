import { liveTest } from '@gateway/testbed/live-test'
import { ask } from '@gateway/testbed/ask'
import { freshDatabase } from '@gateway/testbed/fresh-database'
import { expect } from 'vitest'
import { schemaDrift } from './schema-drift.ts'

liveTest('the migrations create exactly the Prisma schema', async ({ database }) => {
  expect(await schemaDrift(database.adminUrl)).toEqual([])
})

liveTest('a column that only the schema has is reported', async ({ onTestFinished }) => {
  const database = await freshDatabase()
  onTestFinished(database.drop)
  await ask(database.adminUrl, 'ALTER TABLE control.tenants DROP COLUMN name CASCADE')
  const steps = await schemaDrift(database.adminUrl)
  const missing = 'ALTER TABLE "control"."tenants" ADD COLUMN     "name" TEXT NOT NULL'
  expect(steps).toContainEqual(expect.stringContaining(missing))
})
