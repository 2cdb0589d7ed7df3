import { useState } from 'react'
import { useQuery, queryOptions } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ProductRecord } from '@gateway/api/console/products'
import { readingAll, useChange } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { EmptyState, Loaded, Waiting } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import { ProductDialog } from './product-dialog.tsx'
import './operator.css'
import { ask, askAll } from '../api/ask.ts'
import { PriceList, stateLabels, kindLabels, sizeLabels } from '../catalogue/product-labels.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { FilterChip, useFilter } from '../components/filters.tsx'
import { productStates, type ProductsView } from './operator-views.ts'
import { Badge } from '../components/values.tsx'
import { several } from '../components/usd.ts'
import type { MeRecord } from '@gateway/api/console/sign-in'
import { ApiRefusal } from '@gateway/api-client/failures'

type Chosen = { action: ProductAction; product: ProductRecord } | { action: 'create'; product: null }

/** Products in any state, with their operator actions. */
export function ProductsScreen() {
  const { q = '', state } = useSearch({ from: '/operator/products' })
  const { platformOperator } = useMe()
  const { data, error } = useQuery({ ...readingAll('/api/v2/products', { params: {} }), enabled: platformOperator })
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const close = () => setChosen(null)
  const create = (
    <button type="button" className="button main" onClick={() => setChosen({ action: 'create', product: null })}>
      Create product
    </button>
  )
  const rows = (data ?? []).filter(
    (product) =>
      (state === undefined || product.state === state) &&
      `${product.id} ${product.name}`.toLowerCase().includes(q.toLowerCase()),
  )
  return (
    <OperatorScreen title="Products" actions={create}>
      <RefusalBox error={error} />
      <DataList
        name="products"
        caption="Products"
        columns={productColumns((action, product) => setChosen({ action, product }))}
        rows={rows}
        keyOf={({ id }) => id}
        filters={<ProductsFilters view={{ q, ...(state && { state }) }} />}
        empty={
          data?.length === 0 ? (
            <EmptyState title="No products yet" action={create}>
              A product is a provider's model with a price. Projects call products.
            </EmptyState>
          ) : data ? (
            <EmptyState title="No matching products">Clear a filter or change the search.</EmptyState>
          ) : (
            !error && <Waiting what="products" />
          )
        }
      />
      {chosen?.action === 'create' && <ProductDialog of={null} onClose={close} />}
      {chosen?.action === 'Edit' && <ProductDialog of={chosen.product} onClose={close} />}
      {chosen?.action === 'Publish' && <PublishDialog of={chosen.product} onClose={close} />}
      {chosen?.action === 'Suspend' && <SuspendDialog of={chosen.product} onClose={close} />}
    </OperatorScreen>
  )
}

/** Confirms publishing a product at the prices shown. */
function PublishDialog({ of: product, onClose }: { of: ProductRecord; onClose: () => void }) {
  const { id, name } = product
  const publish = useChange(
    () => ask('PATCH', '/api/v2/products/{product}', { params: { product: id }, body: { state: 'published' } }),
    `${name} published.`,
    ['/api/v2/products'],
  )
  return (
    <FormDialog title={`Publish ${name}?`} submit="Publish product" change={publish} onClose={onClose}>
      <p>
        Every organization can see this product and assign it to its projects. Projects it is already assigned to can
        call it immediately, at these prices:
      </p>
      <PriceList of={product} />
    </FormDialog>
  )
}

/** Search and state filters, kept in the URL. */
function ProductsFilters({ view: { q = '', state } }: { view: ProductsView }) {
  const [typed, setTyped] = useState(q) // the URL updates asynchronously
  const set = useFilter<ProductsView>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <input
        type="search"
        className="operator-search"
        aria-label="Search products"
        placeholder="Search products"
        value={typed}
        onChange={({ target: { value } }) => {
          setTyped(value)
          set('q', { isTyped: true })(value)
        }}
      />
      <FilterChip
        name="State"
        value={state}
        choices={productStates.map((each) => [each, stateLabels[each].text])}
        onChange={set('state')}
      />
    </div>
  )
}

type ProductAction = 'Edit' | 'Publish' | 'Suspend'

/** Columns of the product list for operators. */
function productColumns(choose: (action: ProductAction, product: ProductRecord) => void): Column<ProductRecord>[] {
  return [
    {
      head: 'Product',
      sortBy: ({ name }) => name,
      csv: ({ id }) => id,
      cell: ({ id, name, kind }) => (
        <>
          {name} <span className="soft small">{kindLabels[kind]}</span>
          <div className="small">
            <code>{id}</code>
          </div>
        </>
      ),
    },
    { head: 'Price', cell: (product) => <PriceList of={product} /> },
    { head: 'Limits', cell: (product) => sizeLabels(product).map((line) => <div key={line}>{line}</div>) },
    {
      head: 'Reservation factor',
      cell: ({ overheads }) =>
        overheads && overheads.factor > 1 ? <Badge tone="warn" text={`× ${overheads.factor}`} /> : '× 1',
    },
    {
      head: 'Providers',
      cell: ({ providers = [] }) => (
        <ol className="small">
          {providers.map(({ provider, model, priority }, n) => (
            <li key={n}>
              {priority}. {provider} <code>{model}</code>
            </li>
          ))}
        </ol>
      ),
    },
    {
      head: 'State',
      cell: ({ state }) => <Badge {...stateLabels[state]} />,
      sortBy: ({ state }) => state,
      csv: ({ state }) => state,
    },
    {
      head: 'Actions',
      cell: (product) => (
        <RowActions
          acts={['Edit', product.state === 'published' ? 'Suspend' : 'Publish']}
          of={product.name}
          onChoose={(action) => choose(action, product)}
        />
      ),
    },
  ]
}

/** Confirms suspending a product and lists the affected projects. */
function SuspendDialog({ of: { id, name }, onClose }: { of: ProductRecord; onClose: () => void }) {
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
  id: string
  name: string
  /** Number of active keys that can call the product, or null if the user can't see them. */
  keys: number | null
}

/** Projects that use a product, in organizations the user belongs to. Operators can't list other projects. */
function readingAffectedProjects(product: string, tenants: MeRecord['tenants']) {
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
