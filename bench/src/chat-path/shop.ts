import { openWorld } from '@gateway/testbed/world'

export interface Shop {
  project: string
  model: string
  /** Of a key with a monthly limit, so that its window is checked at each call. */
  secret: string
  promptPico: bigint
  completionPico: bigint
}

const PLENTY = 2n ** 50n

/** A project with money, a product that the simulated origin serves, and a key. */
export async function buildShop(adminUrl: string): Promise<Shop> {
  const world = await openWorld(adminUrl)
  try {
    const tenant = await world.tenant()
    const prices = { promptPico: 150_000n, completionPico: 600_000n }
    const model = await world.product({ id: 'bench/model', ...prices })
    const project = await world.project(tenant, PLENTY)
    await world.assign(project.id, model)
    const limit = { micro: PLENTY, reset: 'monthly' } as const
    const { secret } = await world.key({ project, by: tenant.owner, limit })
    return { project: project.id, model, secret, ...prices }
  } finally {
    await world.close()
  }
}
