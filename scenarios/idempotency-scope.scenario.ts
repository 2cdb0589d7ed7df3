import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { WorldKey } from '@gateway/testbed/world'
import { answerOf, refusalIn, said } from './src/caller.ts'
import { houseTest } from './src/house-test.ts'
import { chat, type Shop } from './src/house.ts'
import { rawChat, sendRaw } from './src/raw-http.ts'

// An idempotency key belongs to its project, and a replay is given to nobody who might not make the call now
// (decisions.md, 4; S10 and S11 of the security checklist).

const test = houseTest.extend('first', async ({ house }) => {
  const shop = await house.shop(1_000_000n)
  const idempotencyKey = randomUUID()
  const repeat = async (by: Pick<Shop, 'key' | 'model'>, headers: Record<string, string> = {}) =>
    answerOf(await chat(house, by, { headers: { 'idempotency-key': idempotencyKey, ...headers }, gateway: 1 }))
  const answer = await repeat(shop)
  expect(answer.status).toBe(200)
  const charged = (await house.wallet(shop.project.id)).settled
  const { world } = house
  return {
    shop,
    answer,
    repeat,
    key: (options: Partial<Parameters<typeof world.key>[0]> = {}) =>
      world.key({ project: shop.project, by: shop.owner, ...options }),
    /** The saved answer was given, or it was not; nothing more was charged in either case. */
    async expectReplay(by: Pick<Shop, 'key' | 'model'>, says = '200') {
      const again = await repeat(by)
      expect(said(again)).toBe(says)
      expect(again.headers.get('idempotent-replayed')).toBe(says === '200' ? 'true' : null)
      if (says === '200') expect(again.text).toBe(answer.text)
      else expect(again.text).not.toContain((answer.body as { id: string }).id)
      expect((await house.wallet(shop.project.id)).settled).toBe(charged)
    },
  }
})

describe('a repeat under the same idempotency key', () => {
  test('by another key of the project gets the same bytes', async ({ first }) => {
    await first.expectReplay({ ...first.shop, key: await first.key() })
  })

  for (const where of ['of the same tenant', 'of another tenant'])
    test(`in another project ${where} is another call, charged there`, async ({ house, first }) => {
      const { project, owner } = first.shop
      const other =
        where === 'of the same tenant'
          ? { tenant: project.tenant, team: project.team, owner }
          : await house.world.tenant()
      const elsewhere = await house.world.project(other, 1_000_000n)
      await house.world.assign(elsewhere.id, first.shop.model)
      const key = await house.world.key({ project: elsewhere, by: other.owner })
      const call = await first.repeat({ ...first.shop, key })
      expect([call.status, call.headers.get('idempotent-replayed')]).toEqual([200, null])
      expect((call.body as { id: string }).id).not.toBe((first.answer.body as { id: string }).id)
      expect((await house.wallet(elsewhere.id)).settled).toBeGreaterThan(0n)
      await first.expectReplay(first.shop)
    })

  test('is refused to whoever might not make the call now [key_revoked] [key_expired] [key_scope] [key_issuer_denied] [project_mismatch] [model_not_found]', async ({
    house,
    first,
  }) => {
    const { shop, key, expectReplay, repeat } = first
    const other = await house.world.product()
    const refused: [says: string, key: WorldKey][] = [
      ['401 key_revoked', await key({ revoked: true })],
      ['401 key_expired', await key({ expiresInMs: -1 })],
      ['403 key_scope', await key({ policy: 'listed', resources: [other] })],
      ['403 key_issuer_denied', await key({ by: await house.world.person() })],
    ]
    for (const [says, by] of refused) await expectReplay({ ...shop, key: by }, says)
    expect(said(await repeat(shop, { 'x-service-project': 'prj_other' }))).toBe('403 project_mismatch')
    await house.world.run('DELETE FROM control.assignments WHERE project = $1', [shop.project.id])
    await expectReplay(shop, '404 model_not_found')
    await house.world.assign(shop.project.id, shop.model)
    await expectReplay(shop)
  })

  test('needs no money, and no room in the window', async ({ house, first }) => {
    const poor = await first.key({ limit: { micro: 1n, reset: 'daily' } })
    await first.expectReplay({ ...first.shop, key: poor })
    const { available } = await house.wallet(first.shop.project.id)
    const all = await house.world.product({ requestPico: available * 1_000_000n })
    await house.world.assign(first.shop.project.id, all)
    expect((await chat(house, { ...first.shop, model: all })).status).toBe(200)
    const again = await first.repeat(first.shop)
    expect([again.text, (await house.wallet(first.shop.project.id)).available]).toEqual([first.answer.text, 0n])
  })
})

describe('whatever is sent as Idempotency-Key', () => {
  houseTest(
    'is taken as it is or refused, and forges no line of a log [idempotency_key_invalid]',
    async ({ house }) => {
      const shop = await house.shop(1_000_000_000n)
      const free = await house.world.product({ promptPico: 0n, completionPico: 0n })
      await house.world.assign(shop.project.id, free)
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
        fc.asyncProperty(fc.oneof(bytes, attack, good), fc.nat(1), async (value, gateway) => {
          const headers = [`Authorization: Bearer ${shop.key.secret}`, `Idempotency-Key: ${value}`]
          const answer = await sendRaw(house.gateways[gateway]!.url, rawChat(headers, body))
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
        { numRuns: 300 },
      )
      expect(taken).toBeGreaterThan(50)
      for (const { logFile } of [...house.gateways, ...house.ledgers])
        for (const line of (await readFile(logFile, 'utf8')).split('\n').filter((one) => one !== ''))
          expect(JSON.parse(line)).toMatchObject({ service: expect.stringMatching(/^(?:gateway|ledger)$/) })

      async function rowsUnder(key: string): Promise<number> {
        const sql = 'SELECT FROM money.idempotency_keys WHERE project = $1 AND key = $2'
        return (await house.world.run(sql, [shop.project.id, key])).rowCount ?? 0
      }
    },
  )
})
