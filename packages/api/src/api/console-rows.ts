import { z } from 'zod'
import { pageOf, pageQuery } from '../console/page.ts'
import type { Scope, ScopeArea } from '../console/scopes.ts'
import type { RefusalCode } from '../refusal.ts'
import type { ApiRoute } from './api-route.ts'

// Parts that rows of the console API share. Each keeps its own type, so servers and clients see the exact types of a
// row.

export const tenant = '/api/v2/tenants/{tenant}'
export const project = `${tenant}/projects/{project}` as const

type Method = ApiRoute['method']
type Answers = ApiRoute['answers']
type More = Partial<Omit<ApiRoute, 'method' | 'path' | 'tag' | 'summary' | 'answers'>>

/**
 * Creates rows under one heading, for a signed-in user unless `by` says otherwise.
 * @param area a personal token needs its scope to read for GET, and its scope to write for everything else
 */
export const route =
  (tag: string, area: ScopeArea) =>
  <const M extends Method, const Path extends string, const A extends Answers, const Extra extends More = object>(
    method: M,
    path: Path,
    summary: string,
    answers: A,
    more?: Extra,
  ): Row<M, Path, A, NoInfer<Extra>> =>
    ({
      method,
      path,
      tag,
      by: 'user',
      summary,
      answers,
      ...(more?.by !== 'anyone' && { scopes: [`${area}:${method === 'GET' ? 'read' : 'write'}`] }),
      ...more,
    }) as unknown as Row<M, Path, A, NoInfer<Extra>>

/** For rows that only the platform operator may use. */
export const byOperator = (area: ScopeArea) => ({ scopes: [`${area}:write`, 'operator'] as const satisfies Scope[] })
/** For rows that no token may use, because what they change outlives it. */
export const bySession = { scopes: 'session' } as const

type Row<M, Path, A, Extra> = { method: M; path: Path; tag: string; summary: string; answers: A } & Pick<
  ApiRoute,
  'scopes'
> &
  ByUser<Extra>
type ByUser<Extra> = Extra extends { by: ApiRoute['by'] } ? Extra : Extra & { by: 'user' }

export const one = <Body extends z.ZodType>(body: Body) => ({ 200: { description: 'OK', body } })
/** The same list as comma-separated values, if `format` asks for them. */
export const csv = (columns: string, ...lines: string[]) => ({
  also: {
    'text/csv': z
      .string()
      .describe(columns)
      .meta({ examples: [lines.map((line) => `${line}\r\n`).join('')] }),
  },
  headers: { 'Content-Disposition': 'With `format=csv`: the file name' },
})
export const made = <Body extends z.ZodType>(body: Body) => ({ 201: { description: 'Created', body } })
export const madeOrChanged = <Body extends z.ZodType>(body: Body) => ({
  200: { description: 'It already existed', body },
  ...made(body),
})
export const done = { 204: { description: 'Done' } }
export const page = <Item extends z.ZodType>(item: Item) => ({ 200: { description: 'One page', body: pageOf(item) } })
export const paged = { query: pageQuery, refusals: ['invalid_request'] } as const
/** The secret of a key, token or webhook. */
export const secret = z
  .string()
  .describe('shown only once')
  .meta({ examples: ['svc_shown-once'] })
const idempotencyKey = {
  'Idempotency-Key': {
    description:
      'Chosen by the client, new for each object to create. It is remembered for two days: a repeat returns the object created first, without its secret',
    pattern: '^[\\x21-\\x7e]{8,128}$',
  },
}
/** A creation that a repeat under the same idempotency key does not perform again. */
export const sentOnce = <Body extends z.ZodType, const Codes extends readonly RefusalCode[]>(
  body: Body,
  ...refusals: Codes
) => {
  const more = ['idempotency_key_invalid', 'duplicate_header', 'idempotency_mismatch', ...refusals] as const
  return { ...sent(body, ...more), headers: idempotencyKey }
}
/** The created item and its secret. */
export const withSecret = <Name extends string, Item extends z.ZodType>(name: Name, item: Item) =>
  z.strictObject({
    ...({ [name]: item } as Record<Name, Item>),
    secret: secret.nullable().describe('shown only once; null for a repeat with the same Idempotency-Key'),
    resolution: z.string().optional().describe('if there is no secret: how to get a new one'),
  })
export const sent = <Body extends z.ZodType, const Codes extends readonly RefusalCode[]>(
  body: Body,
  ...refusals: Codes
) => ({ body, refusals: ['invalid_json', 'invalid_request', 'request_too_large', ...refusals] as const })
