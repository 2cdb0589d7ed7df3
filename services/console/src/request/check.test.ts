import { expect, test } from 'vitest'
import { z } from 'zod'
import { check } from './check.ts'

const schema = z.strictObject({ micro: z.int().min(1), email: z.email(), kind: z.enum(['chat', 'image']) })
const valid = { micro: 5, email: 'user@example.test', kind: 'chat' }

test.for([
  [{ micro: 0 }, 'micro', 'micro is 0, and must be at least 1.'],
  [{ micro: '5' }, 'micro', 'micro is "5", and must be a number.'],
  [{ email: 'user' }, 'email', 'email must be an email address.'],
  [{ kind: 'text' }, 'kind', 'kind is "text", and must be one of "chat", "image".'],
  [{ colour: 1 }, 'colour', 'colour is not a known field.'],
] as const)('check refuses %j and names the field %s [invalid_request]', ([part, param, message]) => {
  expect(() => check(schema, { ...valid, ...part })).toThrow(
    expect.objectContaining({ body: expect.objectContaining({ param, message }) as object }) as Error,
  )
})

test('check refuses a request without a body [invalid_request]', () => {
  expect(() => check(schema, undefined)).toThrow('The request is missing, and must be an object.')
})
