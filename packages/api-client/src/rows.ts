import type { ContractTable } from './contract-table.ts'

// What a request to a route needs, and what is answered, from the table of all routes.

/** One line of the table, whichever. */
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
/** The paths that answer this method. */
export type Path<M extends Method> = PathIn<M, Address>
export type RowAt<M extends Method, P extends string> = ContractTable[`${M} ${P}` & Address]

/** Those of them that answer JSON, or nothing; the others answer bytes or lines alone. */
export type JsonPath<M extends Method> = PathIn<M, JsonAddress>
type JsonAddress = { [A in Address]: [ContractTable[A]['answer']] extends [never] ? never : A }[Address]

/** Paths that answer lines of JSON, where they are asked for them. */
export type StreamPath<M extends Method> = PathIn<M, StreamAddress>
type StreamAddress = { [A in Address]: [ContractTable[A]['line']] extends [never] ? never : A }[Address]

/** Paths of lists that are read by pages. */
export type ListPath = PathIn<'GET', ListAddress>
type ListAddress = { [A in Address]: IsPage<ContractTable[A]['answer']> extends true ? A : never }[Address]
type IsPage<A> = [A] extends [never] ? false : A extends { data: unknown; nextCursor: unknown } ? true : false

/** What `ask` answers: the JSON; `undefined` for an answer without a body. */
export type Answer<R extends Pick<Row, 'answer'>> = R['answer']
export type Line<R extends Pick<Row, 'line'>> = R['line']

/** What goes with every request. */
export interface RequestOptions {
  headers?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
  /** Doing it twice does no more than doing it once, so that it is tried again. By default so is what reads or has an idempotency key. */
  isRepeatable?: boolean | undefined
}

/** What a request to this route needs, and what it may have. */
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

/** A key is taken only where the service makes a thing once under it: elsewhere a repeat would do it twice. */
type Key<K> = K extends 'required'
  ? { idempotencyKey: string }
  : K extends 'taken'
    ? { idempotencyKey?: string | undefined }
    : { idempotencyKey?: never }

/** May be left out where nothing of it is needed. */
export type OptionsArgument<O> = object extends O ? [options?: O] : [options: O]
