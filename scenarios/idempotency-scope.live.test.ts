import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { answerOf, refusalIn, said } from './src/caller.ts'
import { liveStackTest } from './src/live-stack-test.ts'
import { chat, type TenantFixture } from './src/stack.ts'
import { rawChat, sendRaw } from './src/raw-http.ts'

// An idempotency key belongs to its project, and only a caller who could make the call now receives a replay
// (rules §5, architecture §S10, §S11).

const test = liveStackTest.extend('first', async ({ stack }) => {
  const tenant = await stack.tenant(1_000_000n)
  const idempotencyKey = randomUUID()
  const repeat = async (by: Pick<TenantFixture, 'key' | 'model'>, headers: Record<string, string> = {}) =>
    answerOf(await chat(stack, by, { headers: { 'idempotency-key': idempotencyKey, ...headers }, gateway: 1 }))
  const answer = await repeat(tenant)
  expect(answer.status).toBe(200)
  const charged = (await stack.wallet(tenant.project.id)).settled
  const { fixture } = stack
  return {
    tenant,
    answer,
    repeat,
    key: (options: Partial<Parameters<typeof fixture.key>[0]> = {}) =>
      fixture.key({ project: tenant.project, by: tenant.owner, ...options }),
    /** Asserts a replay if `says` is 200, or that refusal; either way nothing more is charged. */
    async expectReplay(by: Pick<TenantFixture, 'key' | 'model'>, says = '200') {
      const again = await repeat(by)
      expect(said(again)).toBe(says)
      expect(again.headers.get('idempotent-replayed')).toBe(says === '200' ? 'true' : null)
      if (says === '200') expect(again.text).toBe(answer.text)
      else expect(again.text).not.toContain((answer.body as { id: string }).id)
      expect((await stack.wallet(tenant.project.id)).settled).toBe(charged)
    },
  }
})

describe('a repeat under the same idempotency key', () => {
  test('by another key of the project returns the same bytes', async ({ first }) => {
    await first.expectReplay({ ...first.tenant, key: await first.key() })
  })

  for (const where of ['of the same tenant', 'of another tenant'])
    // spec: 1/s3
    test(`in another project ${where} is a separate call, charged there`, async ({ stack, first }) => {
      const { project, owner } = first.tenant
      const other =
        where === 'of the same tenant'
          ? { tenant: project.tenant, team: project.team, owner }
          : await stack.fixture.tenant()
      const elsewhere = await stack.fixture.project(other, 1_000_000n)
      await stack.fixture.assign(elsewhere.id, first.tenant.model)
      const key = await stack.fixture.key({ project: elsewhere, by: other.owner })
      const call = await first.repeat({ ...first.tenant, key })
      expect([call.status, call.headers.get('idempotent-replayed')]).toEqual([200, null])
      expect((call.body as { id: string }).id).not.toBe((first.answer.body as { id: string }).id)
      expect((await stack.wallet(elsewhere.id)).settled).toBeGreaterThan(0n)
      await first.expectReplay(first.tenant)
    })

  test('is refused if the caller could not make the call now [key_revoked] [key_expired] [key_scope] [key_issuer_denied] [project_mismatch] [model_not_found]', async ({
    stack,
    first,
  }) => {
    const { tenant, key, expectReplay, repeat } = first
    const other = await stack.fixture.publishProduct()
    const refused: [says: string, key: KeyFixture][] = [
      ['401 key_revoked', await key({ revoked: true })],
      ['401 key_expired', await key({ expiresInMs: -1 })],
      ['403 key_scope', await key({ policy: 'listed', resources: [other] })],
      ['403 key_issuer_denied', await key({ by: await stack.fixture.user() })],
    ]
    for (const [says, by] of refused) await expectReplay({ ...tenant, key: by }, says)
    expect(said(await repeat(tenant, { 'x-service-project': 'prj_other' }))).toBe('403 project_mismatch')
    await stack.fixture.run('DELETE FROM control.assignments WHERE project = $1', [tenant.project.id])
    await expectReplay(tenant, '404 model_not_found')
    await stack.fixture.assign(tenant.project.id, tenant.model)
    await expectReplay(tenant)
  })

  // spec: 4.2/s16
  test('needs neither funds nor room in the spending window', async ({ stack, first }) => {
    const poor = await first.key({ limit: { micro: 1n, reset: 'daily' } })
    await first.expectReplay({ ...first.tenant, key: poor })
    const { available } = await stack.wallet(first.tenant.project.id)
    const all = await stack.fixture.publishProduct({ requestPico: available * 1_000_000n })
    await stack.fixture.assign(first.tenant.project.id, all)
    expect((await chat(stack, { ...first.tenant, model: all })).status).toBe(200)
    const again = await first.repeat(first.tenant)
    expect([again.text, (await stack.wallet(first.tenant.project.id)).available]).toEqual([first.answer.text, 0n])
  })
})

describe('Idempotency-Key header', () => {
  liveStackTest(
    'is used unchanged or refused, and cannot forge a log line [idempotency_key_invalid]',
    async ({ stack }) => {
      const tenant = await stack.tenant(1_000_000_000n)
      const free = await stack.fixture.publishProduct({ promptPico: 0n, completionPico: 0n })
      await stack.fixture.assign(tenant.project.id, free)
      const body = JSON.stringify({ model: free, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 })
      const byte = fc.oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0, max: 0xff }))
      const bytes = fc.array(byte, { maxLength: 140 }).map((all) => String.fromCodePoint(...all))
      const attack = fc.constantFrom(
        'abcdefgh\r\nX-Service-Project: prj_other',
        'abcdefgh\n{"level":"info","message":"forged"}',
        'abcdefgh\u0000ijkl',
        'a'.repeat(7),
        'a'.repeat(129),
        'с-кириллицей',
        '💸💸💸💸💸💸💸💸',
        '"; DROP TABLE money.journal; --'.replaceAll(' ', ''),
        '%00%0d%0aabcdefgh',
        '../../../../etc/passwd',
        '{{constructor.constructor}}',
      )
      const good = fc.stringMatching(/^[!-~]{8,128}$/)
      let taken = 0
      await fc.assert(
        fc.asyncProperty(fc.oneof(bytes, attack, good), async (value) => {
          const headers = [`Authorization: Bearer ${tenant.key.secret}`, `Idempotency-Key: ${value}`]
          const answer = await sendRaw(stack.gateways[0]!.url, rawChat(headers, body))
          const asRead = Buffer.from(value)
            .toString('latin1')
            .replaceAll(/^[ \t]+|[ \t]+$/g, '')
          if (/^[!-~]{8,128}$/.test(asRead)) {
            expect(answer.status).toBe(200)
            expect(await rowsUnder(asRead)).toBe(1)
            taken++
            return
          }
          const code = refusalIn({ body: JSON.parse(answer.body) as unknown })?.code
          expect([400, 403]).toContain(answer.status)
          expect(['idempotency_key_invalid', 'invalid_request', 'project_mismatch']).toContain(code)
          expect(await rowsUnder(asRead.replaceAll('\0', ''))).toBe(0)
        }),
        { numRuns: 150 },
      )
      expect(taken).toBeGreaterThan(25)
      for (const { logFile } of [...stack.gateways, ...stack.ledgers])
        for (const line of (await readFile(logFile, 'utf8')).split('\n').filter((one) => one !== ''))
          expect(JSON.parse(line)).toMatchObject({ service: expect.stringMatching(/^(?:gateway|ledger)$/) })

      async function rowsUnder(key: string): Promise<number> {
        const sql = 'SELECT FROM money.idempotency_keys WHERE project = $1 AND key = $2'
        return (await stack.fixture.run(sql, [tenant.project.id, key])).rowCount ?? 0
      }
    },
  )
})
