import { expect } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { consoleTest, signInBy, uniqueAddress } from '../console.fixture.ts'
import { addressBlock } from '@gateway/service-kit/http/connections'
import { countFailedSignIn, reportFailedSignIns } from './failed-sign-ins.ts'

const test = consoleTest.extend('prisma', { scope: 'file' }, async ({ database }, { onCleanup }) => {
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 2, role: 'test' })
  onCleanup(close)
  return prisma
})

async function reportAll(prisma: Parameters<typeof reportFailedSignIns>[0]['prisma']): Promise<void> {
  await reportFailedSignIns({ prisma })
}

test('failed sign-ins of an hour are two entries with their count, which the user and the Admins read', async ({
  console,
  stack,
  fixture,
  prisma,
}) => {
  const member = await stack.member()
  const { rows } = await fixture.run('SELECT email FROM control.users WHERE id = $1', [member.id])
  const address = uniqueAddress()
  const fail = () => signInBy(console.url, rows[0].email as string, 'wrong', address)
  const failures = async () =>
    (await stack.owner.get(`${stack.path}/audit?outcome=refused`)).body.data as { details: object }[]
  expect((await fail()).status).toBe(401)
  await reportAll(prisma)
  await fail()
  await fail()
  await reportAll(prisma)
  const block = addressBlock(address)
  const entry = { user: member.id, action: 'session.create', subject: member.id, outcome: 'refused', device: 'node' }
  expect(await failures()).toMatchObject([{ ...entry, address: block, details: { count: 1 } }])
  await fixture.run(`UPDATE control.failed_sign_ins SET hour = hour - interval '1 hour' WHERE user_id = $1`, [
    member.id,
  ])
  await reportAll(prisma)
  await reportAll(prisma)
  expect((await failures()).map(({ details }) => details)).toMatchObject([{ count: 3 }, { count: 1 }])
  expect((await member.get('/api/v2/me/audit')).body.data).toMatchObject([{ details: { count: 3 } }, entry])
})

test('an email without a user is not stored, and its attempts are counted by address', async ({
  console,
  fixture,
  prisma,
}) => {
  const address = uniqueAddress()
  for (const email of ['hunter2@example.test', 'other@example.test'])
    await signInBy(console.url, email, 'wrong', address)
  await reportAll(prisma)
  const block = addressBlock(address)
  const counted = await fixture.run('SELECT * FROM control.failed_sign_ins WHERE address = $1', [block])
  expect(counted.rows).toMatchObject([{ user_id: '', count: 2 }])
  const { rows } = await fixture.run('SELECT * FROM control.audit WHERE address = $1', [block])
  expect(rows).toMatchObject([{ user_id: null, action: 'session.create', subject: 'unknown', outcome: 'refused' }])
  expect(JSON.stringify([counted.rows, rows])).not.toContain('hunter2')
})

test('an hour has a bounded number of counts, however many users and addresses there are', async ({
  fixture,
  prisma,
}) => {
  const before = await fixture.run(`SELECT count(*)::int FROM control.failed_sign_ins`)
  const most = (before.rows[0].count as number) + 3
  for (let n = 0; n < 10; n++) await countFailedSignIn({ prisma }, `usr_flood_${n}`, most)
  const { rows } = await fixture.run(
    `SELECT user_id, count FROM control.failed_sign_ins WHERE user_id LIKE 'usr_flood%' OR (user_id = '' AND address = '')
      ORDER BY user_id`,
  )
  expect(rows).toEqual([{ user_id: '', count: 7 }, ...[0, 1, 2].map((n) => ({ user_id: `usr_flood_${n}`, count: 1 }))])
})
