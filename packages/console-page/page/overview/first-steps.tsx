import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { usePlace, useProducts } from '../api/use-project.ts'
import { useLatestCalls } from './use-latest-calls.ts'

/** What leads to a first call, until there is one. Each step is ticked by itself. */
export function FirstSteps() {
  const place = usePlace()
  const { tenant, project } = place
  const { products, isPending } = useProducts()
  const keys = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  const calls = useLatestCalls()
  if (isPending || !keys.data || !calls.data || calls.data.data.length > 0) return null
  const hasKey = keys.data.some(({ state }) => state === 'Active')
  return (
    <section className="card stack" aria-label="First steps">
      <h2>First steps</h2>
      <ol className="steps">
        <li className={products.length > 0 ? 'done' : ''}>
          <div>
            <h3>Have a model assigned</h3>
            <p className="soft">
              {products.length > 0
                ? `The project can use ${products.map(({ name }) => name).join(', ')}.`
                : 'An administrator of the organization assigns products to the project.'}
            </p>
          </div>
        </li>
        <li className={hasKey ? 'done' : ''}>
          <div className="stack">
            <div>
              <h3>Create a key</h3>
              <p className="soft">It is bound to this project for life, and its secret is shown once.</p>
            </div>
            {!hasKey && (
              <div className="buttons">
                <Link
                  className="button main"
                  to="/projects/$tenant/$project/keys"
                  params={place}
                  search={{ create: true }}
                >
                  Create a key
                </Link>
              </div>
            )}
          </div>
        </li>
        <li>
          <div>
            <h3>Make a call</h3>
            <p className="soft">Copy the command that is shown with the secret. The call appears here by itself.</p>
          </div>
        </li>
      </ol>
    </section>
  )
}
