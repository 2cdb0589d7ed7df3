import fc from 'fast-check'
import { expect } from 'vitest'
import { checkAdmission } from '../src/admissions/check-admission.ts'
import { keepLocked } from '../src/fixtures/keep-locked.ts'
import { test } from '../src/fixtures/ledger-test.ts'
import { buildHistorySetup } from './history-setup.fixture.ts'
import { admitItems } from './items-of-history.fixture.ts'
import { admission } from './random-history.fixture.ts'

// A check returns what an admission right after it decides, in any situation.

const SITUATIONS = 1_000

const CODES = [
  'admitted',
  'budget_reached',
  'context_limit',
  'files_unsupported',
  'images_unsupported',
  'insufficient_budget',
  'key_expired',
  'key_invalid',
  'key_issuer_denied',
  'key_limit',
  'key_paused',
  'key_revoked',
  'key_scope',
  'key_unbound',
  'model_not_found',
  'project_mismatch',
  'tag_mismatch',
  'unsupported_parameter',
]

const step = fc.record({
  asked: admission.map((one) => ({
    ...one,
    instance: 'alive' as const,
    reservesNothing: null,
    sameIdAs: null,
    idempotency: null,
    copyOf: null,
  })),
  /** How an admitted call ends; null: it stays open. */
  end: fc.constantFrom(null, 'release', 'release', 'settle'),
  /** An occasional change before the check. */
  event: fc.constantFrom(...Array.from({ length: 24 }, () => null), 'revoke', 'rotate', 'pause'),
  which: fc.nat(),
})

test(
  `an admission check predicts the outcome of the next admission in ${SITUATIONS} random situations`,
  { timeout: 240_000 },
  async ({ fixture, replica }) => {
    const seen = new Set<string>()
    for (let round = 0; round < 4 || (seen.size < CODES.length && round < 16); round++) {
      const setup = await buildHistorySetup(fixture)
      setup.instances.alive = replica.instance
      for (const which of [0, 1, 2])
        await setup.setBudget(replica.reads, { which, more: 20_000 * (which + 1), hard: true })
      for (const { asked, end, event, which } of fc.sample(step, SITUATIONS / 4)) {
        if (event !== null) await setup[event](which)
        const [item] = admitItems([asked], setup, [])
        if (item?.op !== 'admit') throw new Error('no direct call')
        const { keyHash, selector, tag, model, parameters, promptSize } = item
        const check = await checkAdmission(replica, {
          caller: { keyHash, selector },
          tag,
          model,
          parameters,
          promptSize,
        })
        const outcome = await replica.admit(item)
        if (outcome.kind === 'admitted') {
          const { reservedMicro, outputCap } = outcome
          expect(check).toEqual({ refusal: null, boundMicro: reservedMicro, outputCap })
          if (end === 'release') await replica.release(item.id)
          if (end === 'settle') await replica.settle(item.id)
        } else expect([asked, check.refusal]).toEqual([asked, outcome])
        seen.add(outcome.kind === 'refused' ? outcome.code : outcome.kind)
      }
    }
    expect([...seen].toSorted()).toEqual(CODES)
  },
)

test('an admission check does not wait for a locked wallet and writes nothing', async ({
  database,
  fixture,
  replica,
  tenant,
}) => {
  const { keyHash, selector, model, parameters, promptSize } = replica.item(tenant.key, tenant.product)
  const question = { caller: { keyHash, selector }, model, parameters, promptSize }
  const unlock = await keepLocked(database.adminUrl, 'SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [
    tenant.project.id,
  ])
  const admitted = { refusal: null, boundMicro: 100, outputCap: 100 }
  expect(await checkAdmission(replica, question)).toEqual(admitted)
  await unlock()
  expect(await checkAdmission(replica, { ...question, caller: { key: tenant.key.id } })).toEqual(admitted)
  const { rows } = await fixture.run('SELECT reserved, journal_seq FROM money.wallets WHERE project = $1', [
    tenant.project.id,
  ])
  expect(rows).toEqual([{ reserved: '0', journal_seq: '1' }]) // only its funding
})

test('an admission check refuses a project without a wallet and does not create one [insufficient_budget]', async ({
  fixture,
  replica,
  tenant,
}) => {
  const project = await fixture.project(tenant.owners, 0n)
  await fixture.assign(project.id, tenant.product)
  await fixture.run('DELETE FROM money.wallets WHERE project = $1', [project.id])
  const key = await fixture.key({ project, by: tenant.owners.owner })
  const { model, parameters, promptSize } = replica.item(key, tenant.product)
  const check = await checkAdmission(replica, { caller: { key: key.id }, model, parameters, promptSize })
  expect(check.refusal).toMatchObject({
    code: 'insufficient_budget',
    facts: { availableMicro: 0, reservedMicro: 0, neededMicro: 100 },
  })
  expect((await fixture.run('SELECT FROM money.wallets WHERE project = $1', [project.id])).rowCount).toBe(0)
})

test('money.check_admission refuses to run in a read-write transaction', async ({ fixture, tenant }) => {
  const caller = JSON.stringify({ key_hash: tenant.key.hash, model: tenant.product })
  const asked = fixture.run(
    'SELECT money.check_admission(jsonb_populate_record(NULL::money.admission_pair, $1), NULL)',
    [caller],
  )
  await expect(asked).rejects.toThrow('READ ONLY')
})
