import type { z } from 'zod'
import type { RefusalCode } from '../refusal.ts'

/** One route as callers see it: from such rows the description of the API is made (docs/openapi.json). */
export interface ApiRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters in braces, such as `/v1/models/{id}`. */
  path: string
  /** Also the heading under which it stands. */
  tag: string
  summary: string
  description?: string
  /** Whose credential it takes. */
  by: 'key' | 'person' | 'key or person' | 'nobody'
  parameters?: Record<string, string>
  headers?: Record<string, HeaderField>
  query?: z.ZodObject | z.ZodType
  body?: z.ZodType
  /** Content types of a body that is bytes as they are, instead of `body`. */
  bytes?: readonly string[]
  answers: Record<number, ApiAnswer>
  /** Besides those that every route of this credential has. */
  refusals?: readonly RefusalCode[]
}

export interface HeaderField {
  description: string
  required?: boolean
  pattern?: string
}

export interface ApiAnswer {
  description: string
  /** Absent: no body. */
  body?: z.ZodType
  /** Other content types that the same answer may have. */
  also?: Record<string, z.ZodType>
  headers?: Record<string, string>
}
