import type { z } from 'zod'
import type { RefusalCode } from '../refusal.ts'

/**
 * One route as callers see it, under the name of its operation. Services mount their routes from such rows, clients take their types
 * from them, and the description of the API is made of them (docs/openapi.json).
 */
export interface ApiRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters in braces, such as `/v1/models/{id}`. */
  path: string
  /** The parameter that takes all that is left of the path, slashes too. */
  restParameter?: string
  /** Also the heading under which it stands. */
  tag: string
  summary: string
  description?: string
  /** Whose credential it takes. */
  by: 'key' | 'user' | 'key or user' | 'anyone'
  parameters?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, HeaderField>>
  query?: z.ZodType
  body?: z.ZodType
  /** Where a body may be larger than its service's bodies may be elsewhere. */
  maxBodyBytes?: number
  /** Content types of a body that is bytes unchanged, instead of `body`. */
  bytes?: readonly string[]
  answers: Readonly<Record<number, ApiAnswer>>
  /** What its example has that the examples of its shapes (`.meta({ examples })`) and the ids of its path do not say. */
  example?: RouteExample
  /** In addition to those that every route of this credential has. */
  refusals?: readonly RefusalCode[]
}

export interface RouteExample {
  path?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  body?: object
  /** The JSON of its success. */
  answer?: unknown
}

export interface HeaderField {
  description: string
  required?: boolean
  pattern?: string
  /** Only of one that is needed: anyone who tries the API in a browser sends it. */
  example?: string
}

export interface ApiAnswer {
  description: string
  /** Absent: no body. */
  body?: z.ZodType
  /** Other content types that the same answer may have. */
  also?: Readonly<Record<string, z.ZodType>>
  headers?: Readonly<Record<string, string>>
}

/** The names of the parameters of a path: `'tenant' | 'key'` of `/tenants/{tenant}/keys/{key}`. */
export type ParameterOf<Row extends Pick<ApiRoute, 'path'>> = NamesIn<Row['path']>
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** The body as a caller writes it, with what has a default left out; `undefined`: there is none. */
export type BodyOf<Row> = Row extends { body: infer Body extends z.ZodType } ? z.input<Body> : undefined
/** The body as the service has it once it was checked. */
export type CheckedBodyOf<Row> = Row extends { body: infer Body extends z.ZodType } ? z.output<Body> : undefined

/** The query as a caller writes it. */
export type QueryOf<Row> = Row extends { query: infer Query extends z.ZodType } ? z.input<Query> : undefined
/** The query as the service has it once it was checked. */
export type CheckedQueryOf<Row> = Row extends { query: infer Query extends z.ZodType } ? z.output<Query> : undefined

/** What it answers where it does not refuse; `undefined`: an answer without a body. */
export type AnswerOf<Row extends Pick<ApiRoute, 'answers'>> = {
  [Status in keyof Row['answers']]: Row['answers'][Status] extends { body: infer Body extends z.ZodType }
    ? z.output<Body>
    : undefined
}[keyof Row['answers']]

/** A line of it where it answers lines of JSON; `never`: it does not. */
export type LineOf<Row extends Pick<ApiRoute, 'answers'>> = {
  [Status in keyof Row['answers']]: Row['answers'][Status] extends {
    also: { 'application/x-ndjson': infer Line extends z.ZodType }
  }
    ? z.output<Line>
    : never
}[keyof Row['answers']]

/** The refusals that are its own, in addition to those that every route of its credential has. */
export type RefusalOf<Row> = Row extends { refusals: readonly (infer Code)[] } ? Code : never
