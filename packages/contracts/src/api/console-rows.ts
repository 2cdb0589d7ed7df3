import { z } from 'zod'
import { pageQuery } from '../console.ts'
import type { ApiAnswer, ApiRoute } from './api-route.ts'

// What rows of the console API have alike.

export const tenant = '/api/v2/tenants/{tenant}'
export const project = `${tenant}/projects/{project}`

type More = Partial<Omit<ApiRoute, 'method' | 'path' | 'tag' | 'summary'>>
export const route =
  (tag: string) =>
  (
    method: ApiRoute['method'],
    path: string,
    summary: string,
    answers: ApiRoute['answers'],
    more: More = {},
  ): ApiRoute => ({
    method,
    path,
    tag,
    by: 'person',
    summary,
    answers,
    ...more,
  })

export const one = (body: z.ZodType, description = 'As it is now'): Record<number, ApiAnswer> => ({
  200: { description, body },
})
export const made = (body: z.ZodType): Record<number, ApiAnswer> => ({ 201: { description: 'Made', body } })
export const madeOrChanged = (body: z.ZodType): Record<number, ApiAnswer> => ({
  ...one(body, 'It was there'),
  ...made(body),
})
export const gone: Record<number, ApiAnswer> = { 204: { description: 'Done' } }
export const page = (item: z.ZodType): Record<number, ApiAnswer> =>
  one(
    z.strictObject({
      data: z.array(item),
      nextCursor: z.string().nullable().describe('sent back as `cursor` for what comes after; null at the end'),
    }),
    'A page',
  )
export const paged: More = { query: pageQuery, refusals: ['invalid_request'] }
export const sent = (body: z.ZodType, refusals: NonNullable<ApiRoute['refusals']> = []): More => ({
  body,
  refusals: ['invalid_json', 'invalid_request', 'request_too_large', ...refusals],
})
