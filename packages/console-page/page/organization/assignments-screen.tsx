import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { AssignmentRecord } from '@gateway/api/console/projects'
import { readingAll } from '../api/reading.ts'
import { useScope, useProjectName } from '../api/use-project.ts'
import { useMemberNames } from '../api/use-names.ts'
import { Badge } from '../components/badge.tsx'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { kindLabels, stateLabels } from '../catalogue/product-labels.ts'
import { RowButtons } from '../users/row-buttons.tsx'
import { actionColumn } from './action-column.ts'
import { AssignDialog } from './assign-dialog.tsx'
import { ListScreen } from './list-screen.tsx'
import { UnassignDialog } from './unassign-dialog.tsx'
import { useOrganization } from './use-organization.ts'

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
      cell: ({ createdAt, createdBy }) => (
        <>
          <Moment iso={createdAt} to="day" />
          {createdBy !== null && <span className="soft"> by {nameOf(createdBy)}</span>}
        </>
      ),
    },
    ...actionColumn<AssignmentRecord>(isAdmin, ({ product }) => (
      <RowButtons acts={['Unassign']} of={titleOf(product)} onChoose={() => setUnassigned(product)} />
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
