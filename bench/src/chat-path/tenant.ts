import { openFixture } from '@gateway/testbed/fixture'

export interface TenantFixture {
  project: string
  model: string
  /** Of a key with a monthly limit, so that its window is checked at each call. */
  secret: string
  promptPico: bigint
  completionPico: bigint
}

const PLENTY = 2n ** 50n

/** A project with money, a product that the simulated provider serves, and a key. */
export async function buildTenant(adminUrl: string): Promise<TenantFixture> {
  const fixture = await openFixture(adminUrl)
  try {
    const tenant = await fixture.tenant()
    const prices = { promptPico: 150_000n, completionPico: 600_000n }
    const model = await fixture.product({ id: 'bench/model', ...prices })
    const project = await fixture.project(tenant, PLENTY)
    await fixture.assign(project.id, model)
    const limit = { micro: PLENTY, reset: 'monthly' } as const
    const { secret } = await fixture.key({ project, by: tenant.owner, limit })
    return { project: project.id, model, secret, ...prices }
  } finally {
    await fixture.close()
  }
}
