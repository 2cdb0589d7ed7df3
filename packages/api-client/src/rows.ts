import type {
  AnswerOf,
  ApiRoute,
  BodyOf as ContractBody,
  LineOf,
  ParameterOf,
  QueryOf as ContractQuery,
} from '@gateway/contracts/api-route'
import type { consoleRoutes } from '@gateway/contracts/console-routes'
import type { flowRoutes } from '@gateway/contracts/flow-routes'
import type { gatewayRoutes } from '@gateway/contracts/gateway-routes'

// What the compiler knows of every route, taken from the rows that the services mount. Nothing of it is there when a program runs.

type RowIn<Rows> = Rows[keyof Rows]
type Row = RowIn<typeof gatewayRoutes> | RowIn<typeof flowRoutes> | RowIn<typeof consoleRoutes>

/** By method and path, so that one is found without looking at the others. */
type Table = { [R in Row as `${R['method']} ${R['path']}`]: R }

export type Method = Row['method']
/** The paths that answer this method. */
export type Path<M extends Method> = Extract<Row, { method: M }>['path']
export type RowAt<M extends Method, P extends string> = Table[`${M} ${P}` & keyof Table]

/** Those of them that answer JSON, or nothing; the others answer bytes or lines alone. */
export type JsonPath<M extends Method> = JsonRow<Extract<Row, { method: M }>>['path']
type JsonRow<R extends Row> = R extends { answers: { 200: { also: object; body?: never } } } ? never : R

/** Paths that answer lines of JSON, where they are asked for them. */
export type StreamPath<M extends Method> = StreamRow<Extract<Row, { method: M }>>['path']
type StreamRow<R> = R extends ApiRoute ? ([LineOf<R>] extends [never] ? never : R) : never

/** Paths of lists that are read by pages. */
export type ListPath = Extract<Row, { method: 'GET'; answers: { 200: { body: PageShape } } }>['path']
interface PageShape {
  shape: { data: unknown; nextCursor: unknown }
}

/** What `ask` answers: the JSON; `undefined` for an answer without a body. */
export type Answer<R extends Pick<ApiRoute, 'answers'>> = [Exclude<AnswerOf<R>, undefined>] extends [never]
  ? undefined
  : Exclude<AnswerOf<R>, undefined>
export type Line<R extends Pick<ApiRoute, 'answers'>> = LineOf<R>

/** What goes with every request. */
export interface RequestOptions {
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
}

/** What a request to this route needs, and what it may have. */
export type Options<R extends ApiRoute> = RequestOptions & Params<R> & Query<R> & Body<R> & Key<R>

type Params<R extends ApiRoute> = [ParameterOf<R>] extends [never]
  ? { params?: never }
  : { params: Readonly<Record<ParameterOf<R>, string>> }

type Query<R> = [ContractQuery<R>] extends [undefined]
  ? { query?: never }
  : object extends ContractQuery<R>
    ? { query?: Written<ContractQuery<R>> }
    : { query: Written<ContractQuery<R>> }
/** A number that is read from its digits is `unknown` to the contract. */
type Written<Q> = { [Name in keyof Q]: unknown extends Q[Name] ? number | undefined : Q[Name] }

type Body<R> = R extends { bytes: readonly (infer Type)[] }
  ? { body: BodyBytes; contentType: Type }
  : [ContractBody<R>] extends [undefined]
    ? { body?: never; contentType?: never }
    : { body: ContractBody<R>; contentType?: never }
export type BodyBytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>

/** A key is taken only where the service makes a thing once under it: elsewhere a repeat would do it twice. */
type Key<R> = R extends { headers: { 'Idempotency-Key': { required: true } } }
  ? { idempotencyKey: string }
  : R extends { headers: { 'Idempotency-Key': object } }
    ? { idempotencyKey?: string | undefined }
    : { idempotencyKey?: never }

/** May be left out where nothing of it is needed. */
export type OptionsArgument<O> = object extends O ? [options?: O] : [options: O]
