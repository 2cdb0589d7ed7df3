import { queryOptions } from '@tanstack/react-query'
import type { MeRecord } from '@gateway/api/console/sign-in'
import { ApiRefusal } from '@gateway/api-client/failures'
import { askAll } from '../api/ask-all.ts'

export interface AffectedProject {
  id: string
  name: string
  /** Number of active keys that can call the product, or null if the user can't see them. */
  keys: number | null
}

/** Projects that use a product, in organizations the user belongs to. Operators can't list other projects. */
export function readingAffectedProjects(product: string, tenants: MeRecord['tenants']) {
  return queryOptions({
    queryKey: ['affected projects', product],
    queryFn: async () => (await Promise.all(tenants.map(({ id }) => inTenant(product, id)))).flat(),
  })
}

async function inTenant(product: string, tenant: string): Promise<AffectedProject[]> {
  const projects = await shown(askAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
  const users = await Promise.all(
    (projects ?? []).map(async (project) => {
      const params = { tenant, project: project.id }
      const path = '/api/v2/tenants/{tenant}/projects/{project}/assignments'
      const assigned = await shown(askAll(path, { params }))
      return assigned?.some((each) => each.product === product) ? [project] : []
    }),
  )
  return Promise.all(users.flat().map(({ id, name }) => withKeys(product, tenant, { id, name })))
}

async function withKeys(product: string, tenant: string, project: { id: string; name: string }) {
  const path = '/api/v2/tenants/{tenant}/keys'
  const keys = await shown(askAll(path, { params: { tenant }, query: { project: project.id } }))
  const using = keys?.filter(
    ({ state, policy, resources }) => state === 'Active' && (policy !== 'listed' || resources.includes(product)),
  )
  return { ...project, keys: using?.length ?? null }
}

/** Rows, or null if the user can't see them. @throws ApiRefusal other than 403 and 404 */
async function shown<Rows>(asked: Promise<Rows>): Promise<Rows | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof ApiRefusal && (error.status === 403 || error.status === 404)) return null
    throw error
  })
}
