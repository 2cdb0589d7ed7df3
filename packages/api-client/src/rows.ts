import type { ContractTable } from './contract-table.ts'

// Types of a request to a route and of its response, from the table of all routes.

/** Any row of the table. */
interface Row {
  parameters: string
  query: unknown
  body: unknown
  bytes: string
  idempotencyKey: 'required' | 'taken' | 'none'
  answer: unknown
  line: unknown
}

type Address = keyof ContractTable
export type Method = Address extends `${infer M} /${string}` ? M : never
type PathIn<M extends string, A> = A extends `${M} ${infer P}` ? P : never
/** Paths with this method. */
export type Path<M extends Method> = PathIn<M, Address>
export type RowAt<M extends Method, P extends string> = ContractTable[`${M} ${P}` & Address]

/** Those with a JSON response or no body; the others respond only with bytes or lines. */
export type JsonPath<M extends Method> = PathIn<M, JsonAddress>
type JsonAddress = { [A in Address]: [ContractTable[A]['answer']] extends [never] ? never : A }[Address]

/** Paths that can respond in lines of JSON. */
export type StreamPath<M extends Method> = PathIn<M, StreamAddress>
type StreamAddress = { [A in Address]: [ContractTable[A]['line']] extends [never] ? never : A }[Address]

/** Paths of paged lists. */
export type ListPath = PathIn<'GET', ListAddress>
type ListAddress = { [A in Address]: IsPage<ContractTable[A]['answer']> extends true ? A : never }[Address]
type IsPage<A> = [A] extends [never] ? false : A extends { data: unknown; nextCursor: unknown } ? true : false

/** What `ask` resolves to: the JSON; `undefined` for a response without a body. */
export type Answer<R extends Pick<Row, 'answer'>> = R['answer']
export type Line<R extends Pick<Row, 'line'>> = R['line']

/** Options of every request. */
export interface RequestOptions {
  headers?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
  /** Whether the request is safe to retry. Defaults to true for reads and for requests with an idempotency key. */
  isRepeatable?: boolean | undefined
}

/** Required and optional parts of a request to this route. */
export type Options<R extends Row> = RequestOptions & Params<R> & Query<R['query']> & Body<R> & Key<R['idempotencyKey']>

type Params<R extends Row> = [R['parameters']] extends [never]
  ? { params?: never }
  : { params: Readonly<Record<R['parameters'], string>> }

type Query<Q> = [Q] extends [undefined] ? { query?: never } : object extends Q ? { query?: Q } : { query: Q }

type Body<R extends Row> = [R['bytes']] extends [never]
  ? [R['body']] extends [undefined]
    ? { body?: never; contentType?: never }
    : { body: R['body']; contentType?: never }
  : { body: BodyBytes; contentType: R['bytes'] }
export type BodyBytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>

/** A key is accepted only if the service honors it: otherwise a repeat would act twice. */
type Key<K> = K extends 'required'
  ? { idempotencyKey: string }
  : K extends 'taken'
    ? { idempotencyKey?: string | undefined }
    : { idempotencyKey?: never }

/** Optional if none of its fields is required. */
export type OptionsArgument<O> = object extends O ? [options?: O] : [options: O]
