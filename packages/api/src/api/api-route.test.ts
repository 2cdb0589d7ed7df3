import { expectTypeOf, test } from 'vitest'
import type { KeyRecord } from '../console/keys.ts'
import type { Page } from '../console/page.ts'
import type { MemberRecord } from '../console/users.ts'
import type { z } from 'zod'
import type { ExecutionRecord, ProgressLine, RefusedLine } from '../execution.ts'
import type {
  AnswerOf,
  ApiRoute,
  BodyOf,
  CheckedBodyOf,
  CheckedQueryOf,
  LineOf,
  ParameterOf,
  QueryOf,
  RefusalOf,
} from './api-route.ts'
import type { ConsoleRoutes } from './console-routes.ts'
import type { flowRoutes } from './flow-routes.ts'
import type { gatewayRoutes } from './gateway-routes.ts'

// The types a client gets from a row, with nothing declared twice. The compiler checks these.

test('a row gives the names of its path parameters', () => {
  expectTypeOf<ParameterOf<ConsoleRoutes['rotateKey']>>().toEqualTypeOf<'tenant' | 'key'>()
  expectTypeOf<ParameterOf<ConsoleRoutes['readMe']>>().toEqualTypeOf<never>()
  expectTypeOf<ParameterOf<(typeof gatewayRoutes)['readModel']>>().toEqualTypeOf<'id'>()
})

test('a row types its body: a field with a default is optional before validation and present after', () => {
  expectTypeOf<BodyOf<ConsoleRoutes['rotateKey']>>().toEqualTypeOf<{ graceSeconds?: number | undefined }>()
  expectTypeOf<CheckedBodyOf<ConsoleRoutes['rotateKey']>>().toEqualTypeOf<{ graceSeconds: number }>()
  expectTypeOf<BodyOf<ConsoleRoutes['readKey']>>().toEqualTypeOf<undefined>()
  expectTypeOf<QueryOf<ConsoleRoutes['listKeys']>>().toHaveProperty('project')
  expectTypeOf<CheckedQueryOf<ConsoleRoutes['listMembers']>>().toEqualTypeOf<{
    cursor?: string | undefined
    limit: number
  }>()
  expectTypeOf<QueryOf<ConsoleRoutes['readMe']>>().toEqualTypeOf<undefined>()
})

test('a row types its response', () => {
  expectTypeOf<AnswerOf<ConsoleRoutes['listMembers']>>().toEqualTypeOf<Page<MemberRecord>>()
  expectTypeOf<AnswerOf<ConsoleRoutes['createKey']>>().toEqualTypeOf<{
    key: KeyRecord
    secret: string | null
    resolution?: string | undefined
  }>()
  expectTypeOf<AnswerOf<ConsoleRoutes['readKey']>>().toEqualTypeOf<KeyRecord>()
  expectTypeOf<AnswerOf<ConsoleRoutes['changeMember']>>().toEqualTypeOf<MemberRecord>()
  expectTypeOf<AnswerOf<ConsoleRoutes['signOut']>>().toEqualTypeOf<undefined>()
  expectTypeOf<AnswerOf<(typeof flowRoutes)['showExecution']>>().toEqualTypeOf<ExecutionRecord>()
})

test('a row types the lines of its stream', () => {
  expectTypeOf<LineOf<ConsoleRoutes['followExecution']>>().toEqualTypeOf<ProgressLine | RefusedLine>()
  expectTypeOf<LineOf<ConsoleRoutes['executeSandbox']>>().toEqualTypeOf<ProgressLine | RefusedLine>()
  expectTypeOf<LineOf<ConsoleRoutes['readKey']>>().toEqualTypeOf<never>()
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

test('a row types its method, callers and refusals', () => {
  expectTypeOf<ConsoleRoutes['createKey']['method']>().toEqualTypeOf<'POST'>()
  expectTypeOf<ConsoleRoutes['createKey']['path']>().toEqualTypeOf<'/api/v2/tenants/{tenant}/keys'>()
  expectTypeOf<ConsoleRoutes['createKey']['by']>().toEqualTypeOf<'user'>()
  expectTypeOf<ConsoleRoutes['signIn']['by']>().toEqualTypeOf<'anyone'>()
  expectTypeOf<RefusalOf<ConsoleRoutes['revokeKey']>>().toEqualTypeOf<'key_not_active'>()
  expectTypeOf<RefusalOf<ConsoleRoutes['readMe']>>().toEqualTypeOf<never>()
})
