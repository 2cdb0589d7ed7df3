import { expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import type { ApiRoute, CheckedBodyOf, CheckedQueryOf, RefusalOf } from './api-route.ts'
import type { ConsoleRoutes } from './console-routes.ts'
import type { flowRoutes } from './flow-routes.ts'
import type { gatewayRoutes } from './gateway-routes.ts'

// The types a service gets from a row, with nothing declared twice; open-api-client.test.ts has those of a client. The compiler checks
// these.

test('a row types its checked body and query, in which a field with a default is present', () => {
  expectTypeOf<CheckedBodyOf<ConsoleRoutes['rotateKey']>>().toEqualTypeOf<{ graceSeconds: number }>()
  expectTypeOf<CheckedQueryOf<ConsoleRoutes['listMembers']>>().toEqualTypeOf<{
    cursor?: string | undefined
    limit: number
  }>()
})

/** Operations whose rows have a widened type, through an annotation or a part created without its type. */
type Widened<Rows extends Record<string, ApiRoute>> = {
  [Name in keyof Rows]:
    | (string extends Rows[Name]['path'] ? Name : never)
    | (ApiRoute['method'] extends Rows[Name]['method'] ? Name : never)
    | (ApiRoute['by'] extends Rows[Name]['by'] ? Name : never)
    | (number extends keyof Rows[Name]['answers'] ? Name : never)
    | (z.ZodType extends Rows[Name]['body' & keyof Rows[Name]] ? Name : never)
    | (z.ZodType extends Rows[Name]['query' & keyof Rows[Name]] ? Name : never)
}[keyof Rows]

test('no row is widened to a general type', () => {
  expectTypeOf<Widened<ConsoleRoutes>>().toEqualTypeOf<never>()
  expectTypeOf<Widened<typeof gatewayRoutes>>().toEqualTypeOf<never>()
  expectTypeOf<Widened<typeof flowRoutes>>().toEqualTypeOf<never>()
  type Whole = {
    method: 'GET'
    path: '/'
    tag: string
    summary: string
    by: 'key'
    answers: { 204: { description: '' } }
  }
  type Rows = { annotated: ApiRoute; anyBody: Whole & { body: z.ZodType }; whole: Whole }
  expectTypeOf<Widened<Rows>>().toEqualTypeOf<'annotated' | 'anyBody'>()
})

test('a row types its refusals', () => {
  expectTypeOf<RefusalOf<ConsoleRoutes['revokeKey']>>().toEqualTypeOf<'key_not_active'>()
  expectTypeOf<RefusalOf<ConsoleRoutes['readMe']>>().toEqualTypeOf<never>()
})
