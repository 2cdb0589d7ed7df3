import { Link, useNavigate } from '@tanstack/react-router'
import { useScope } from '../api/use-project.ts'
import type { CatalogueRow } from './catalogue-rows.ts'
import { MOST_COMPARED } from './catalogue-view.ts'

/** Actions on a model: try it, estimate its cost, compare it. */
export function ModelActions({
  of: { product, isAssigned },
  compared,
  onEstimate,
}: {
  of: CatalogueRow
  compared: string[]
  onEstimate: () => void
}) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/models' })
  const scope = useScope()
  const { id, name } = product
  const isCompared = compared.includes(id)
  const others = compared.filter((each) => each !== id)
  const compare = isCompared ? others : [...others, id]
  const toggle = () =>
    void navigate({
      search: ({ compare: _, ...rest }) => ({ ...rest, ...(compare.length > 0 && { compare }) }),
      resetScroll: false,
    })
  return (
    <div className="catalogue-actions">
      {!isAssigned && <p className="soft small">An Admin of your organization can assign it.</p>}
      <div className="buttons">
        {isAssigned && product.kind === 'chat' && (
          <Link
            className="button small"
            aria-label={`Try ${name}`}
            to="/projects/$tenant/$project/playground"
            params={scope}
            search={{ model: id }}
          >
            Try
          </Link>
        )}
        <button type="button" className="button small" aria-label={`Cost of ${name}`} onClick={onEstimate}>
          Cost
        </button>
        <button
          type="button"
          className="button small"
          aria-label={`Compare ${name}`}
          aria-pressed={isCompared}
          disabled={!isCompared && compared.length >= MOST_COMPARED}
          onClick={toggle}
        >
          Compare
        </button>
      </div>
    </div>
  )
}
