import type { ComponentProps } from 'react'
import { queryOptions, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import type { MeRecord } from '@gateway/api/console/sign-in'
import type { ProductRecord } from '@gateway/api/console/products'
import { ApiRefusal } from '@gateway/api-client/failures'
import { ask, askAll } from '../api/ask.ts'
import { ChangedElsewhere } from '../api/failed.ts'
import { readingAll, useChange } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { PriceList } from '../catalogue/product-labels.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { Loaded } from '../components/list-states.tsx'
import { several } from '../components/usd.ts'

/** Publishes a product once it is confirmed at its present prices. */
export function PublishDialog({ of: product, onClose }: { of: ProductRecord; onClose: () => void }) {
  const { id, name } = product
  const client = useQueryClient()
  const publish = useChange(
    async () => {
      const latest = await readLatest(client, id)
      if (latest && JSON.stringify(latest.pricing) !== JSON.stringify(product.pricing)) throw new ChangedElsewhere()
      return ask('PATCH', '/api/v2/products/{product}', { params: { product: id }, body: { state: 'published' } })
    },
    `${name} published.`,
    ['/api/v2/products'],
  )
  return <PublishQuestion of={product} change={publish} onClose={onClose} />
}

/** Reads a product again, also where it is shown. undefined if there is none with this ID. */
export async function readLatest(client: QueryClient, id: string): Promise<ProductRecord | undefined> {
  const products = await client.fetchQuery(readingAll('/api/v2/products', { params: {} }))
  return products.find((each) => each.id === id)
}

/** Confirms publishing a product at the prices shown. @param change publishes it */
export function PublishQuestion({
  of,
  change,
  onClose,
}: {
  of: Pick<ProductRecord, 'name' | 'kind' | 'pricing'>
  change: ComponentProps<typeof FormDialog>['change']
  onClose: () => void
}) {
  return (
    <FormDialog title={`Publish ${of.name}?`} submit="Publish product" change={change} onClose={onClose}>
      <p>
        Every organization can see this product and assign it to its projects. Projects it is already assigned to can
        call it immediately, at these prices:
      </p>
      <PriceList of={of} />
    </FormDialog>
  )
}

/** Confirms suspending a product and lists the affected projects. */
export function SuspendDialog({ of: { id, name }, onClose }: { of: ProductRecord; onClose: () => void }) {
  const affected = useQuery(readingAffectedProjects(id, useMe().tenants))
  const suspend = useChange(
    () => ask('PATCH', '/api/v2/products/{product}', { params: { product: id }, body: { state: 'suspended' } }),
    `${name} suspended.`,
    ['/api/v2/products'],
  )
  return (
    <FormDialog title={`Suspend ${name}?`} submit="Suspend product" isDanger change={suspend} onClose={onClose}>
      <p>
        New calls to <code>{id}</code>, and flows that use it, are refused in all organizations. Calls in progress
        finish and are charged. Assignments are kept and take effect again once you republish it.
      </p>
      <Loaded of={affected} what="affected projects">
        {(projects) => <AffectedProjects projects={projects} />}
      </Loaded>
    </FormDialog>
  )
}

function AffectedProjects({ projects }: { projects: AffectedProject[] }) {
  return (
    <div className="notice">
      {projects.length === 0 ? (
        <p>No project in your organizations uses it.</p>
      ) : (
        <>
          <p>Used in your organizations by:</p>
          <ul>
            {projects.map((project) => (
              <li key={project.id}>
                <strong>{project.name}</strong>
                {project.keys !== null && `, ${several(project.keys, 'active key')}`}
              </li>
            ))}
          </ul>
        </>
      )}
      <p className="small">Projects in other organizations are affected too, but aren't shown to operators.</p>
    </div>
  )
}

interface AffectedProject {
  tenant: string
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
  return { ...project, tenant, keys: using?.length ?? null }
}

/** Rows, or null if the user can't see them. @throws ApiRefusal other than 403 and 404 */
async function shown<Rows>(asked: Promise<Rows>): Promise<Rows | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof ApiRefusal && (error.status === 403 || error.status === 404)) return null
    throw error
  })
}
