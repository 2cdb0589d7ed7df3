import type { z } from 'zod'
import type { Scope } from '../console/scopes.ts'
import type { RefusalCode } from '../refusal.ts'

/**
 * One route as callers see it, keyed by the name of its operation. Services mount their routes from these rows, clients
 * take their types from them, and docs/openapi.json is generated from them.
 */
export interface ApiRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters in braces, such as `/v1/models/{id}`. */
  path: string
  /** The parameter that matches the rest of the path, including slashes. */
  restParameter?: string
  /** Also the heading that lists it. */
  tag: string
  summary: string
  description?: string
  /** Whose credential the route accepts. */
  by: 'key' | 'user' | 'key or user' | 'anyone'
  /** Scopes that a personal token needs, all of them; `session`: no token may. Service tokens have permissions instead. */
  scopes?: readonly Scope[] | 'session'
  parameters?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, HeaderField>>
  query?: z.ZodType
  body?: z.ZodType
  /** Set if a body may be larger than the limit of its service. */
  maxBodyBytes?: number
  /** Content types of a body sent as raw bytes, instead of `body`. */
  bytes?: readonly string[]
  answers: Readonly<Record<number, ApiAnswer>>
  /** Values that the examples of its shapes (`.meta({ examples })`) and the ids of its path do not cover. */
  example?: RouteExample
  /** In addition to the refusals common to every route of this credential. */
  refusals?: readonly RefusalCode[]
  /** Shape of its refusals, if its wire has one that differs from all others. */
  refusalShape?: z.ZodType
}

export interface RouteExample {
  path?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  body?: object
  /** The JSON of a success response. */
  answer?: unknown
}

export interface HeaderField {
  description: string
  required?: boolean
  pattern?: string
  /** Only for a required header: trying the API in a browser sends it. */
  example?: string
}

export interface ApiAnswer {
  description: string
  /** Absent if the response has no body. */
  body?: z.ZodType
  /** Other content types of the same response. */
  also?: Readonly<Record<string, z.ZodType>>
  headers?: Readonly<Record<string, string>>
}

/** Names of the path parameters: `'tenant' | 'key'` of `/tenants/{tenant}/keys/{key}`. */
export type ParameterOf<Row extends Pick<ApiRoute, 'path'>> = NamesIn<Row['path']>
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** The body as a caller writes it, where fields with a default are optional; `undefined` if there is no body. */
export type BodyOf<Row> = Row extends { body: infer Body extends z.ZodType } ? z.input<Body> : undefined
/** The body as the service has it after validation. */
export type CheckedBodyOf<Row> = Row extends { body: infer Body extends z.ZodType } ? z.output<Body> : undefined

/** The query as a caller writes it. */
export type QueryOf<Row> = Row extends { query: infer Query extends z.ZodType } ? z.input<Query> : undefined
/** The query as the service has it after validation. */
export type CheckedQueryOf<Row> = Row extends { query: infer Query extends z.ZodType } ? z.output<Query> : undefined

/** The response of a success; `undefined` if it has no body. */
export type AnswerOf<Row extends Pick<ApiRoute, 'answers'>> = {
  [Status in keyof Row['answers']]: Row['answers'][Status] extends { body: infer Body extends z.ZodType }
    ? z.output<Body>
    : undefined
}[keyof Row['answers']]

/** A line of the response if it is a stream of JSON lines, else `never`. */
export type LineOf<Row extends Pick<ApiRoute, 'answers'>> = {
  [Status in keyof Row['answers']]: Row['answers'][Status] extends {
    also: { 'application/x-ndjson': infer Line extends z.ZodType }
  }
    ? z.output<Line>
    : never
}[keyof Row['answers']]

/** Refusals specific to the route, in addition to those common to its credential. */
export type RefusalOf<Row> = Row extends { refusals: readonly (infer Code)[] } ? Code : never
