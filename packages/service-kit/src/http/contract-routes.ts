import type { ApiRoute } from '@gateway/contracts/api-route'
import type { Route, RouteHandler } from './routes.ts'

/**
 * The rows of a contract as routes, each with what serves its operation. An operation without a handler does not compile.
 * @param handlers null: the operation is not served here
 */
export function contractRoutes<Operation extends string>(
  rows: Readonly<Record<Operation, ApiRoute>>,
  handlers: Readonly<Record<NoInfer<Operation>, RouteHandler | null>>,
  isWanted: (row: ApiRoute) => boolean = () => true,
): Route[] {
  const operations = Object.keys(rows) as Operation[]
  return operations.flatMap((operation) => {
    const [row, handle] = [rows[operation], handlers[operation]]
    return handle !== null && isWanted(row) ? [[row.method, expressPath(row), handle] as const] : []
  })
}

/** Express writes `:id` and, for all that is left of a path, `*id`. */
function expressPath({ path, restParameter }: ApiRoute): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === restParameter ? '*' : ':') + name)
}
