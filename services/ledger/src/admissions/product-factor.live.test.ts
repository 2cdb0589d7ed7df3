import { expect } from 'vitest'
import type { Fixture } from '@gateway/testbed/fixture'
import { keepLocked } from '../fixtures/keep-locked.ts'
import { findingsOf, test as base } from '../fixtures/ledger-test.ts'

// Usage beyond the bound of a prompt raises the factor of the product (money §2.5).

/** A token costs one micro-USD, in the prompt and in the answer: 100 in the prompt, 50 in the answer. */
const PROMPT = 100
const CAP = 50
const test = base
  .extend('product', async ({ fixture, tenant }) => {
    const product = await fixture.product({ promptPico: 1_000_000n, completionPico: 1_000_000n, perMessage: 0 })
    await fixture.assign(tenant.project.id, product)
    return product
  })
  .extend('call', ({ replica, tenant, product }) => async () => {
    const size = { bytes: PROMPT, messages: 1, tools: 0, images: 0, counted: null, maxTokens: CAP }
    const item = { ...replica.item(tenant.key, product), promptSize: size }
    const outcome = await replica.admit(item)
    if (outcome.kind !== 'admitted') throw new Error(`refused: ${JSON.stringify(outcome)}`)
    return { id: item.id, reservedMicro: outcome.reservedMicro }
  })

async function factorOf(fixture: Fixture, product: string): Promise<number> {
  const { rows } = await fixture.run('SELECT factor_millionths FROM control.products WHERE id = $1', [product])
  return Number(rows[0]!.factor_millionths) / 1_000_000
}

async function auditOf(fixture: Fixture, product: string): Promise<unknown[]> {
  const { rows } = await fixture.run(
    `SELECT tenant, user_id, action, details FROM control.audit WHERE subject = $1 ORDER BY id`,
    [product],
  )
  return rows
}

test('prompt usage beyond the bound raises the product’s factor, so that the next call reserves enough', async ({
  fixture,
  replica,
  tenant,
  product,
  call,
}) => {
  const { id, reservedMicro } = await call()
  expect(reservedMicro).toBe(PROMPT + CAP)
  expect(await replica.settle(id, { promptTokens: 142, completionTokens: CAP })).toEqual({
    kind: 'settled',
    chargedMicro: PROMPT + CAP, // never more than was reserved
  })
  expect(await factorOf(fixture, product)).toBe(1.45) // rounded up to the next twentieth
  expect(await auditOf(fixture, product)).toEqual([
    { tenant: null, user_id: null, action: 'product.factor', details: { before: 1, after: 1.45 } },
  ])
  const next = await call()
  expect(next.reservedMicro).toBe(145 + CAP)
  expect(await replica.settle(next.id, { promptTokens: 142, completionTokens: CAP })).toEqual({
    kind: 'settled',
    chargedMicro: 142 + CAP,
  })
  expect(await auditOf(fixture, product)).toHaveLength(1)
  expect(await findingsOf(replica, tenant.project.id)).toEqual([])
})

test('concurrent excesses raise the factor once, because each is compared to the bound it was reserved with', async ({
  fixture,
  replica,
  product,
  call,
}) => {
  const calls = await Promise.all(Array.from({ length: 20 }, call))
  await Promise.all(calls.map(({ id }) => replica.settle(id, { promptTokens: 200, completionTokens: CAP })))
  expect(await factorOf(fixture, product)).toBe(2)
})

test('the factor is at most 4, and a lower reported usage does not reduce it', async ({
  fixture,
  replica,
  product,
  call,
}) => {
  const calls = await Promise.all(Array.from({ length: 3 }, call))
  await replica.settle(calls[0]!.id, { promptTokens: 100_000, completionTokens: CAP })
  expect(await factorOf(fixture, product)).toBe(4)
  await replica.settle(calls[1]!.id, { promptTokens: 110, completionTokens: CAP })
  await replica.settle(calls[2]!.id, { promptTokens: 1, completionTokens: 1 })
  expect(await factorOf(fixture, product)).toBe(4)
})

test('more output than requested does not raise the factor', async ({ fixture, replica, product, call }) => {
  const { id } = await call()
  await replica.settle(id, { promptTokens: PROMPT, completionTokens: 10 * CAP })
  expect(await factorOf(fixture, product)).toBe(1)
})

test('the context limit is checked without the factor [context_limit]', async ({ fixture, replica, tenant }) => {
  const product = await fixture.product({ perMessage: 0, contextLength: PROMPT + CAP })
  await fixture.assign(tenant.project.id, product)
  await fixture.run('UPDATE control.products SET factor_millionths = 4000000 WHERE id = $1', [product])
  const admit = (bytes: number) =>
    replica.admit({
      ...replica.item(tenant.key, product),
      promptSize: { bytes, messages: 1, tools: 0, images: 0, counted: null, maxTokens: CAP },
    })
  expect((await admit(PROMPT)).kind).toBe('admitted')
  expect(await admit(PROMPT + 1)).toMatchObject({ kind: 'refused', code: 'context_limit' })
})

test('a settlement does not wait for an operator who is changing the product', async ({
  database,
  fixture,
  replica,
  product,
  call,
}) => {
  const [{ id }, { id: later }] = [await call(), await call()]
  const letGo = await keepLocked(database.adminUrl, 'SELECT FROM control.products WHERE id = $1 FOR UPDATE', [product])
  expect((await replica.settle(id, { promptTokens: 150, completionTokens: CAP })).kind).toBe('settled')
  await letGo()
  expect(await factorOf(fixture, product)).toBe(1)
  await replica.settle(later, { promptTokens: 150, completionTokens: CAP }) // the next excess raises it
  expect(await factorOf(fixture, product)).toBe(1.5)
})

test('the ledger can raise a factor only through raise_factors, and cannot lower it', async ({
  replica,
  product,
  fixture,
}) => {
  const write = (sql: string) => replica.reads.prisma.$executeRawUnsafe(sql, product)
  await expect(write('UPDATE control.products SET factor_millionths = 2000000 WHERE id = $1')).rejects.toThrow(
    /permission denied/,
  )
  await fixture.run('UPDATE control.products SET factor_millionths = 3000000 WHERE id = $1', [product])
  await write('SELECT money.raise_factors(ARRAY[$1], ARRAY[1500000::bigint])')
  expect(await factorOf(fixture, product)).toBe(3)
})
