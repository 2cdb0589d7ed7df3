import type { AnswerOf, ApiRoute, BodyOf, LineOf, ParameterOf, QueryOf as ContractQuery } from '@gateway/api/api-route'
import type { consoleRoutes } from '@gateway/api/console-routes'
import type { flowRoutes } from '@gateway/api/flow-routes'
import type { gatewayRoutes } from '@gateway/api/gateway-routes'

// The types of every route, taken from the rows that the services mount. Nothing of this exists at run time. The
// published client has the table written out (clients/typescript/build/declarations.ts), because it cannot
// depend on zod.

/** Keyed by method and path, so that the compiler finds one without evaluating the others. */
export type ContractTable = { [R in Row as `${R['method']} ${R['path']}`]: RouteOf<R> }

type RowIn<Rows> = Rows[keyof Rows]
type Row = RowIn<typeof gatewayRoutes> | RowIn<typeof flowRoutes> | RowIn<typeof consoleRoutes>

interface RouteOf<R extends ApiRoute> {
  /** Names of its path parameters. */
  parameters: ParameterOf<R>
  /** `undefined` if it takes none. */
  query: Written<ContractQuery<R>>
  body: BodyOf<R>
  /** Content types of a body of raw bytes. */
  bytes: R extends { bytes: readonly (infer Type)[] } ? Type : never
  idempotencyKey: R extends { headers: { 'Idempotency-Key': { required: true } } }
    ? 'required'
    : R extends { headers: { 'Idempotency-Key': object } }
      ? 'taken'
      : 'none'
  /** The JSON of the response; `undefined` if it has no body, `never` if it is only bytes or lines. */
  answer: R extends { answers: { 200: { also: object; body?: never } } } ? never : JsonOf<R>
  /** A line, if the response is a stream of JSON lines. */
  line: LineOf<R>
}

type JsonOf<R extends ApiRoute> = [Exclude<AnswerOf<R>, undefined>] extends [never]
  ? undefined
  : Exclude<AnswerOf<R>, undefined>

/** A number parsed from digits is `unknown` to the contract. */
type Written<Q> = Q extends object ? { [Name in keyof Q]: unknown extends Q[Name] ? number | undefined : Q[Name] } : Q
