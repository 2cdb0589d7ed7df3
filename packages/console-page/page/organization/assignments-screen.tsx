import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { AssignmentRecord } from '@gateway/api/console/projects'
import { readingAll, useChange } from '../api/queries.ts'
import { useScope, useProjectName, useMemberNames } from '../api/session.ts'
import { Badge, Moment } from '../components/values.tsx'
import type { Column } from '../components/data-table.tsx'
import { kindLabels, stateLabels } from '../catalogue/product-labels.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { actionColumn, ListScreen, useOrganization } from './list-screen.tsx'
import { AssignDialog } from './assign-dialog.tsx'
import { ask } from '../api/ask.ts'
import { FormDialog } from '../components/dialog.tsx'

/** Products assigned to a project. */
export function AssignmentsScreen() {
  const { isAdmin } = useOrganization()
  const { tenant, project } = useScope()
  const name = useProjectName()
  const nameOf = useMemberNames()
  const params = { tenant, project }
  const assigned = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/assignments', { params }))
  const products = useQuery(readingAll('/api/v2/products', { params: {} })).data ?? []
  const known = new Map(products.map((product) => [product.id, product]))
  const [isAssigning, setAssigning] = useState(false)
  const [unassigned, setUnassigned] = useState<string | null>(null)
  const titleOf = (id: string) => known.get(id)?.name ?? id
  const columns: Column<AssignmentRecord>[] = [
    {
      head: 'Product',
      sortBy: ({ product }) => titleOf(product),
      csv: ({ product }) => product,
      cell: ({ product }) => (
        <>
          {titleOf(product)}
          <div className="soft small">
            <code>{product}</code>
          </div>
        </>
      ),
    },
    {
      head: 'Kind',
      cell: ({ product }) => {
        const kind = known.get(product)?.kind
        return kind ? kindLabels[kind] : '–'
      },
    },
    {
      head: 'State',
      cell: ({ product }) => {
        const state = known.get(product)?.state
        if (state === 'published') return <Badge tone="good" text="Available" />
        return <Badge tone="warn" text={state ? stateLabels[state].text : 'Unavailable'} />
      },
    },
    {
      head: 'Assigned',
      sortBy: ({ createdAt }) => createdAt,
      csv: ({ createdAt }) => createdAt,
      cell: ({ createdAt, createdBy }) => (
        <>
          <Moment iso={createdAt} to="day" />
          {createdBy !== null && <span className="soft"> by {nameOf(createdBy)}</span>}
        </>
      ),
    },
    ...actionColumn<AssignmentRecord>(isAdmin, ({ product }) => (
      <RowActions acts={['Unassign']} of={titleOf(product)} onChoose={() => setUnassigned(product)} />
    )),
  ]
  return (
    <ListScreen
      title={`Products of ${name}`}
      of="Projects"
      actions={
        isAdmin ? (
          <button type="button" className="button main" onClick={() => setAssigning(true)}>
            Assign product
          </button>
        ) : undefined
      }
      list={assigned}
      columns={columns}
      keyOf={({ product }) => product}
      name="products"
      searchBy={({ product }) => `${titleOf(product)} ${product}`}
      empty={{
        title: 'No products assigned',
        text: "The project's keys can't make calls until an Admin of the organization assigns a product.",
      }}
    >
      {isAssigning && <AssignDialog onClose={() => setAssigning(false)} />}
      {unassigned !== null && (
        <UnassignDialog product={unassigned} name={titleOf(unassigned)} onClose={() => setUnassigned(null)} />
      )}
    </ListScreen>
  )
}

/** Confirms unassigning a product and lists the affected keys. */
function UnassignDialog({ product, name, onClose }: { product: string; name: string; onClose: () => void }) {
  const { tenant, project } = useScope()
  const projectName = useProjectName()
  const keys = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project, state: 'Active' } }),
  )
  const only = (keys.data ?? []).filter(({ policy, resources }) => policy === 'listed' && resources.includes(product))
  const unassign = useChange(
    () =>
      ask('DELETE', '/api/v2/tenants/{tenant}/projects/{project}/assignments/{product}', {
        params: { tenant, project, product },
      }),
    `${name} unassigned from ${projectName}.`,
  )
  return (
    <FormDialog
      title={`Unassign ${name} from ${projectName}?`}
      submit="Unassign product"
      isDanger
      change={unassign}
      onClose={onClose}
    >
      <p>
        New calls from {projectName} to <code>{product}</code> are refused for all its keys, and its flows that use the
        product fail. Other products aren't affected.
      </p>
      {only.length > 0 && (
        <p className="notice">
          These keys are limited to selected products, including this one: {only.map((key) => key.name).join(', ')}.
        </p>
      )}
    </FormDialog>
  )
}
