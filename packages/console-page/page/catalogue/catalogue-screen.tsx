import { useNavigate, useSearch } from '@tanstack/react-router'
import { useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { DataTable } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { CatalogueFilters } from './catalogue-filters.tsx'
import { catalogueRows } from './catalogue-rows.ts'
import { Comparison } from './comparison.tsx'
import { ModelActions } from './model-actions.tsx'
import { modelColumns } from './model-columns.tsx'
import { EstimateDialog } from './estimate-dialog.tsx'
import { UnpublishedNotice } from './unpublished-notice.tsx'
import { useCatalogue } from './use-catalogue.ts'
import './catalogue.css'

/** Products that the project can call or request, with their prices. */
export function CatalogueScreen() {
  const view = useSearch({ from: '/projects/$tenant/$project/models' })
  const navigate = useNavigate({ from: '/projects/$tenant/$project/models' })
  const { products, assigned, error } = useCatalogue()
  const rows = products && assigned && catalogueRows(products, assigned, view)
  const estimated = products?.find(({ id }) => id === view.estimate)
  const compared = (view.compare ?? []).flatMap((id) => products?.find((product) => product.id === id) ?? [])
  const showEstimate = (id: string | null) =>
    void navigate({ search: ({ estimate: _, ...others }) => ({ ...others, ...(id !== null && { estimate: id }) }) })
  return (
    <Screen title="Models" of={useProjectName()}>
      <CatalogueFilters view={view} />
      <RefusalBox error={error} />
      {!rows && !error && <Waiting what="models" />}
      {products && assigned && <UnpublishedNotice products={products} assigned={assigned} />}
      {compared.length > 0 && <Comparison of={compared} />}
      {rows?.length === 0 && <NoModel isEmpty={!products?.some(({ state }) => state === 'published')} />}
      {rows && rows.length > 0 && (
        <DataTable
          caption="Models"
          columns={[
            ...modelColumns,
            {
              head: 'Actions',
              cell: (row) => (
                <ModelActions
                  of={row}
                  compared={compared.map(({ id }) => id)}
                  onEstimate={() => showEstimate(row.product.id)}
                />
              ),
            },
          ]}
          rows={rows}
          keyOf={({ product }) => product.id}
        />
      )}
      {estimated && <EstimateDialog of={estimated} onClose={() => showEstimate(null)} />}
    </Screen>
  )
}

function NoModel({ isEmpty }: { isEmpty: boolean }) {
  return isEmpty ? (
    <EmptyState title="No models published yet">Ask the platform operator to publish a product.</EmptyState>
  ) : (
    <EmptyState title="No matching models">Clear a filter or shorten the search.</EmptyState>
  )
}
