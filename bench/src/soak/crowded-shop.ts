import { openWorld } from '@gateway/testbed/world'

export interface CrowdedShop {
  projects: { id: string; secret: string }[]
  model: string
}

const PLENTY = 2n ** 50n

/** Projects with money that call the same model, one micro-USD a token. */
export async function buildCrowdedShop(adminUrl: string, projects: number): Promise<CrowdedShop> {
  const world = await openWorld(adminUrl)
  try {
    const tenant = await world.tenant()
    const model = await world.product({ id: 'bench/soak', promptPico: 1_000_000n, completionPico: 1_000_000n })
    const made: CrowdedShop['projects'] = []
    for (let n = 0; n < projects; n++) {
      const project = await world.project(tenant, PLENTY)
      await world.assign(project.id, model)
      const { secret } = await world.key({ project, by: tenant.owner })
      made.push({ id: project.id, secret })
    }
    return { projects: made, model }
  } finally {
    await world.close()
  }
}
