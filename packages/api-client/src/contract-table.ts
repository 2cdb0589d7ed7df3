import type { AnswerOf, ApiRoute, BodyOf, LineOf, ParameterOf, QueryOf as ContractQuery } from '@gateway/api/api-route'
import type { consoleRoutes } from '@gateway/api/console-routes'
import type { flowRoutes } from '@gateway/api/flow-routes'
import type { gatewayRoutes } from '@gateway/api/gateway-routes'

// What the compiler knows of every route, taken from the rows that the services mount. Nothing of it is there when a program runs.
// The published client has this table written out (clients/typescript/build/contract-declaration.ts): what is published knows no zod.

/** By method and path, so that one is found without looking at the others. */
export type ContractTable = { [R in Row as `${R['method']} ${R['path']}`]: RouteOf<R> }

type RowIn<Rows> = Rows[keyof Rows]
type Row = RowIn<typeof gatewayRoutes> | RowIn<typeof flowRoutes> | RowIn<typeof consoleRoutes>

interface RouteOf<R extends ApiRoute> {
  /** Names of what its path has in braces. */
  parameters: ParameterOf<R>
  /** `undefined`: it has none. */
  query: Written<ContractQuery<R>>
  body: BodyOf<R>
  /** Content types of a body that is bytes unchanged. */
  bytes: R extends { bytes: readonly (infer Type)[] } ? Type : never
  idempotencyKey: R extends { headers: { 'Idempotency-Key': { required: true } } }
    ? 'required'
    : R extends { headers: { 'Idempotency-Key': object } }
      ? 'taken'
      : 'none'
  /** Its JSON; `undefined` where it answers nothing. `never`: it answers bytes or lines alone. */
  answer: R extends { answers: { 200: { also: object; body?: never } } } ? never : JsonOf<R>
  /** A line, where it answers lines of JSON. */
  line: LineOf<R>
}

type JsonOf<R extends ApiRoute> = [Exclude<AnswerOf<R>, undefined>] extends [never]
  ? undefined
  : Exclude<AnswerOf<R>, undefined>

/** A number that is read from its digits is `unknown` to the contract. */
type Written<Q> = Q extends object ? { [Name in keyof Q]: unknown extends Q[Name] ? number | undefined : Q[Name] } : Q
