import type { Fixture, KeyFixture } from '@gateway/testbed/fixture'
import { PLENTY, withFixture } from '../stack/with-fixture.ts'

export interface BenchWallet {
  project: string
  /** Hashes of its keys, hex. */
  keyHashes: string[]
}

export interface BenchFixture {
  model: string
  instance: string
  /** Four keys, two of them with a monthly limit; funded beyond the needs of any bench. */
  busy: BenchWallet
  /** The same for the naive transactions, so that the variants don't share rows. */
  naive: BenchWallet
  /** With one key each. */
  many: BenchWallet[]
  /** Without funds. */
  empty: BenchWallet
}

/** Creates the users, projects, keys, products and the instance of the bench. */
export async function buildWallets(adminUrl: string, manyWallets: number): Promise<BenchFixture> {
  return withFixture(adminUrl, async (fixture) => {
    await fixture.run('BEGIN')
    const tenant = await fixture.tenant()
    const model = await fixture.publishProduct({ id: 'bench/model' })
    const instance = 'ins_bench'
    await fixture.run(
      `INSERT INTO money.instances (id, service, started_at, heartbeat_at, dead_after_ms) VALUES ($1, 'gateway', now(), now(), 15000)`,
      [instance],
    )
    const build = async (keys: number, limited: number, funds: bigint) =>
      buildWallet({ fixture, tenant, model, keys, limited, funds })
    const busy = await build(4, 2, PLENTY)
    const naive = await build(4, 2, PLENTY)
    const empty = await build(1, 0, 0n)
    const many: BenchWallet[] = []
    while (many.length < manyWallets) many.push(await build(1, 0, PLENTY))
    await fixture.run('COMMIT')
    await fixture.run('ANALYZE')
    return { model, instance, busy, naive, many, empty }
  })
}

interface WalletDeps {
  fixture: Fixture
  tenant: Awaited<ReturnType<Fixture['tenant']>>
  model: string
  keys: number
  /** Number of keys with a monthly limit. */
  limited: number
  funds: bigint
}

async function buildWallet({ fixture, tenant, model, keys, limited, funds }: WalletDeps): Promise<BenchWallet> {
  const project = await fixture.project(tenant, funds)
  await fixture.assign(project.id, model)
  const made: KeyFixture[] = []
  while (made.length < keys) {
    const limit = made.length < limited ? ({ micro: PLENTY, reset: 'monthly' } as const) : null
    made.push(await fixture.key({ project, by: tenant.owner, limit }))
  }
  return { project: project.id, keyHashes: made.map(({ hash }) => hash) }
}
