import { openFixture } from '@gateway/testbed/fixture'

export interface CrowdedTenants {
  projects: { id: string; secret: string }[]
  model: string
}

const PLENTY = 2n ** 50n

/** Projects with money that call the same model, one micro-USD a token. */
export async function buildCrowdedTenants(adminUrl: string, projects: number): Promise<CrowdedTenants> {
  const fixture = await openFixture(adminUrl)
  try {
    const tenant = await fixture.tenant()
    const model = await fixture.product({ id: 'bench/soak', promptPico: 1_000_000n, completionPico: 1_000_000n })
    const made: CrowdedTenants['projects'] = []
    for (let n = 0; n < projects; n++) {
      const project = await fixture.project(tenant, PLENTY)
      await fixture.assign(project.id, model)
      const { secret } = await fixture.key({ project, by: tenant.owner })
      made.push({ id: project.id, secret })
    }
    return { projects: made, model }
  } finally {
    await fixture.close()
  }
}
