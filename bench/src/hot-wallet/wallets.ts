import { openWorld, type World, type WorldKey } from '@gateway/testbed/world'

export interface BenchWallet {
  project: string
  /** Hashes of its keys, hex. */
  keyHashes: string[]
}

export interface BenchWorld {
  model: string
  holder: string
  /** Four keys, two of them with a monthly limit; funded for longer than any bench lasts. */
  busy: BenchWallet
  /** The same for the naive transactions, so that neither meets rows that the other left. */
  naive: BenchWallet
  /** A key each. */
  many: BenchWallet[]
  /** Without money. */
  empty: BenchWallet
}

const PLENTY = 2n ** 50n

/** Builds the people, projects, keys, products and the holder that the bench works with. */
export async function buildWallets(adminUrl: string, manyWallets: number): Promise<BenchWorld> {
  const world = await openWorld(adminUrl)
  try {
    await world.run('BEGIN')
    const tenant = await world.tenant()
    const model = await world.product({ id: 'bench/model' })
    const holder = 'hol_bench'
    await world.run(
      `INSERT INTO money.holders (id, service, started_at, beat_at, dead_after_ms) VALUES ($1, 'gateway', now(), now(), 15000)`,
      [holder],
    )
    const build = async (keys: number, limited: number, funds: bigint) =>
      buildWallet({ world, tenant, model, keys, limited, funds })
    const busy = await build(4, 2, PLENTY)
    const naive = await build(4, 2, PLENTY)
    const empty = await build(1, 0, 0n)
    const many: BenchWallet[] = []
    while (many.length < manyWallets) many.push(await build(1, 0, PLENTY))
    await world.run('COMMIT')
    await world.run('ANALYZE')
    return { model, holder, busy, naive, many, empty }
  } finally {
    await world.close()
  }
}

interface WalletNeeds {
  world: World
  tenant: Awaited<ReturnType<World['tenant']>>
  model: string
  keys: number
  /** How many of the keys have a monthly limit. */
  limited: number
  funds: bigint
}

async function buildWallet({ world, tenant, model, keys, limited, funds }: WalletNeeds): Promise<BenchWallet> {
  const project = await world.project(tenant, funds)
  await world.assign(project.id, model)
  const made: WorldKey[] = []
  while (made.length < keys) {
    const limit = made.length < limited ? ({ micro: PLENTY, reset: 'monthly' } as const) : null
    made.push(await world.key({ project, by: tenant.owner, limit }))
  }
  return { project: project.id, keyHashes: made.map(({ hash }) => hash) }
}
