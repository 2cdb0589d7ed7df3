import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { liveTest } from '@gateway/testbed/live-test'
import { pooledSessions } from '@gateway/testbed/pooled-sessions'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { checkAudit } from './check-audit.ts'
import { forgetAudit, sealAudit } from './seal-audit.ts'

/** A database without services: the console would seal entries whenever its job runs. */
const test = liveTest.extend('audit', async ({ database }, { onCleanup }) => {
  const console = await openDatabase({ url: database.consoleUrl, poolSize: 2, role: 'test' })
  const owner = await openDatabase({ url: database.adminUrl, poolSize: 1, role: 'test' })
  onCleanup(async () => {
    await console.close()
    await owner.close()
  })
  await owner.prisma.$executeRaw`ALTER TABLE control.audit DISABLE TRIGGER append_only`
  await owner.prisma.$executeRaw`DELETE FROM control.audit`
  await owner.prisma.$executeRaw`DELETE FROM control.audit_start`
  await owner.prisma.$executeRaw`ALTER TABLE control.audit ENABLE TRIGGER append_only`
  return {
    prisma: console.prisma,
    asOwner: (sql: string) => owner.prisma.$executeRawUnsafe(sql),
    url: database.consoleUrl,
    /** Adds entries of this age, and seals them. */
    async add(count: number, daysOld = 0) {
      for (let n = 0; n < count; n++)
        await owner.prisma.$executeRaw`
          INSERT INTO control.audit (at, tenant, user_id, user_name, action, subject, details, address, device)
          VALUES (now() - ${daysOld}::int * interval '1 day', 'ten_1', 'usr_1', 'Ada "Countess"', 'key.create', ${`key_${n}`},
                  ${`{"b": [1.50, null, "\\u2028\\n\\u007f"], "a": {"é": ${n}}}`}::jsonb, '2001:db8::1', ${'x\u001f\\'})`
      while ((await sealAudit(console)) > 0);
    },
    /** Tampers as the owner of the table could. */
    async tamper(sql: string) {
      await owner.prisma.$executeRaw`ALTER TABLE control.audit DISABLE TRIGGER append_only`
      await owner.prisma.$executeRawUnsafe(sql)
      await owner.prisma.$executeRaw`ALTER TABLE control.audit ENABLE TRIGGER append_only`
    },
  }
})

test('an untouched audit has no findings, and its anchor still fits after more entries', async ({ audit }) => {
  await audit.add(3)
  const { anchor, ...checked } = await checkAudit(audit)
  expect(checked).toEqual({ entries: 3, findings: [] })
  await audit.add(2)
  expect(await checkAudit(audit, anchor)).toMatchObject({ entries: 5, findings: [] })
})

test('entries that the retention deletes during the check are not findings, and later gaps are', async ({ audit }) => {
  await audit.add(4, 100)
  await audit.add(3)
  let isFirst = true
  const { prisma } = audit
  const auditStart = {
    async findFirst() {
      const start = await prisma.auditStart.findFirst()
      if (isFirst) await forgetAudit(audit, 90)
      isFirst = false
      return start
    },
  }
  const during = { auditStart, $queryRaw: prisma.$queryRaw.bind(prisma) } as unknown as typeof prisma
  expect(await checkAudit({ prisma: during })).toMatchObject({ entries: 3, findings: [] })
  await audit.tamper(`DELETE FROM control.audit WHERE position = 6`)
  expect((await checkAudit(audit)).findings).toEqual(['Entries 6 to 6 are missing.'])
})

test.for([
  [
    'a changed subject',
    `UPDATE control.audit SET subject = 'key_9' WHERE position = 2`,
    ['Entry 2 does not fit its seal.'],
  ],
  [
    'a changed time',
    `UPDATE control.audit SET at = at + interval '1 ms' WHERE position = 2`,
    ['Entry 2 does not fit its seal.'],
  ],
  ['changed details', `UPDATE control.audit SET details = '{}' WHERE position = 4`, ['Entry 4 does not fit its seal.']],
  ['a changed device', `UPDATE control.audit SET device = NULL WHERE position = 1`, ['Entry 1 does not fit its seal.']],
  ['removed entries', `DELETE FROM control.audit WHERE position IN (2, 3)`, ['Entries 2 to 3 are missing.']],
  ['the first entry removed', `DELETE FROM control.audit WHERE position = 1`, ['Entries 1 to 1 are missing.']],
  [
    'two entries in each other’s place',
    `UPDATE control.audit a SET (subject, details) = (SELECT b.subject, b.details FROM control.audit b WHERE b.position = 5 - a.position)
      WHERE position IN (2, 3)`,
    ['Entry 2 does not fit its seal.', 'Entry 3 does not fit its seal.'],
  ],
] as const)('the check finds %s', async ([, sql, findings], { audit }) => {
  await audit.add(5)
  await audit.tamper(sql)
  expect((await checkAudit(audit)).findings).toEqual(findings)
})

test('an anchor shows that the newest entries were removed, or the chain was sealed again', async ({ audit }) => {
  await audit.add(4)
  const { anchor } = await checkAudit(audit)
  await audit.tamper('DELETE FROM control.audit WHERE position >= 3')
  expect(await checkAudit(audit)).toMatchObject({ findings: [] })
  expect((await checkAudit(audit, anchor)).findings).toEqual(['Entry 4, which was anchored, is missing.'])
  await audit.add(2)
  expect((await checkAudit(audit, anchor)).findings).toEqual(['Entry 4 is not as it was anchored.'])
})

test('retention removes entries from the oldest on, and the rest of the chain stays verifiable', async ({ audit }) => {
  await audit.add(3, 500)
  const old = await checkAudit(audit)
  await audit.add(3, 10)
  expect(await forgetAudit(audit, 400)).toBe(3)
  expect(await forgetAudit(audit, 400)).toBe(0)
  expect(await checkAudit(audit, old.anchor)).toMatchObject({ entries: 3, findings: [] })
  await audit.add(1)
  expect(await forgetAudit(audit, 1)).toBe(0) // 30 days at least
  await audit.tamper('DELETE FROM control.audit WHERE position = 4')
  expect((await checkAudit(audit)).findings).toEqual(['Entries 4 to 4 are missing.'])
})

test('retention keeps an old entry behind a younger one, so that the chain has no hole', async ({ audit }) => {
  await audit.add(1, 500)
  await audit.add(1, 10)
  await audit.add(1, 500)
  expect(await forgetAudit(audit, 400)).toBe(1)
  expect(await checkAudit(audit)).toMatchObject({ entries: 2, findings: [] })
})

/** Runs the command in a separate process. */
function run(words: string[], env: Record<string, string>): Promise<{ code: number; said: string }> {
  const command = path.join(import.meta.dirname, '../command.ts')
  return promisify(execFile)(process.execPath, [command, ...words], { env }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, said: stdout + stderr }),
  )
}

test('npm run audit check says what it found, and exits with 1', async ({ audit }) => {
  await audit.add(2)
  const env = { DATABASE_URL: audit.url }
  const { said } = await run(['check'], env)
  expect(said).toMatch(/^anchor 2:[0-9a-f]{64}\n2 entries checked, 0 findings\n$/)
  expect(await run(['check', '--against', `2:${'0'.repeat(64)}`], env)).toMatchObject({
    code: 1,
    said: expect.stringContaining('Entry 2 is not as it was anchored.\n') as string,
  })
  expect(await run(['check', '--against', 'x'], env)).toMatchObject({ code: 64 })
})

test('npm run audit check reads the file that DATABASE_URL_FILE names, as in the pods', async ({ audit }) => {
  await audit.add(2)
  const file = path.join(await temporaryFolder('audit-check'), 'database-url')
  await writeFile(file, `${audit.url}\n`)
  expect(await run(['check'], { DATABASE_URL_FILE: file })).toMatchObject({ code: 0 })
  expect(await run(['check'], { DATABASE_URL_FILE: '/nowhere' })).toMatchObject({
    code: 78,
    said: expect.stringContaining("can't be read from /nowhere") as string,
  })
  expect(await run(['check'], {})).toMatchObject({ code: 69 })
})

test('npm run audit check prepares no statements if PREPARED_STATEMENTS is off', async ({ audit }) => {
  await audit.add(1)
  const env = { DATABASE_URL: await pooledSessions(audit.asOwner, audit.url) }
  expect(await run(['check'], env)).toMatchObject({
    code: 69,
    said: expect.stringContaining('already exists') as string,
  })
  expect(await run(['check'], { ...env, PREPARED_STATEMENTS: 'false' })).toMatchObject({ code: 0 })
})
