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

// What a program learns from a row without a word said twice. The compiler is what checks it.

test('a row says what its path names', () => {
  expectTypeOf<ParameterOf<ConsoleRoutes['rotateKey']>>().toEqualTypeOf<'tenant' | 'key'>()
  expectTypeOf<ParameterOf<ConsoleRoutes['readMe']>>().toEqualTypeOf<never>()
  expectTypeOf<ParameterOf<(typeof gatewayRoutes)['readModel']>>().toEqualTypeOf<'id'>()
})

test('a row says what it is sent: what has a default may be left out, and is there once it was checked', () => {
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

test('a row says what it answers', () => {
  expectTypeOf<AnswerOf<ConsoleRoutes['listMembers']>>().toEqualTypeOf<Page<MemberRecord>>()
  expectTypeOf<AnswerOf<ConsoleRoutes['createKey']>>().toEqualTypeOf<{
    key: KeyRecord
    secret: string | null
    resolution?: string | undefined
  }>()
  expectTypeOf<AnswerOf<ConsoleRoutes['readKey']>>().toEqualTypeOf<KeyRecord>()
  expectTypeOf<AnswerOf<ConsoleRoutes['setMember']>>().toEqualTypeOf<MemberRecord>()
  expectTypeOf<AnswerOf<ConsoleRoutes['signOut']>>().toEqualTypeOf<undefined>()
  expectTypeOf<AnswerOf<(typeof flowRoutes)['showExecution']>>().toEqualTypeOf<ExecutionRecord>()
})

test('a row says of what its lines are', () => {
  expectTypeOf<LineOf<ConsoleRoutes['followExecution']>>().toEqualTypeOf<ProgressLine | RefusedLine>()
  expectTypeOf<LineOf<ConsoleRoutes['executeSandbox']>>().toEqualTypeOf<ProgressLine | RefusedLine>()
  expectTypeOf<LineOf<ConsoleRoutes['readKey']>>().toEqualTypeOf<never>()
})

/** The operations whose rows only say that they are rows: of an annotation, or of a part that was made without its type. */
type Widened<Rows extends Record<string, ApiRoute>> = {
  [Name in keyof Rows]:
    | (string extends Rows[Name]['path'] ? Name : never)
    | (ApiRoute['method'] extends Rows[Name]['method'] ? Name : never)
    | (ApiRoute['by'] extends Rows[Name]['by'] ? Name : never)
    | (number extends keyof Rows[Name]['answers'] ? Name : never)
    | (z.ZodType extends Rows[Name]['body' & keyof Rows[Name]] ? Name : never)
    | (z.ZodType extends Rows[Name]['query' & keyof Rows[Name]] ? Name : never)
}[keyof Rows]

test('no row has lost its types', () => {
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

test('a row says the method, the callers and the refusals', () => {
  expectTypeOf<ConsoleRoutes['createKey']['method']>().toEqualTypeOf<'POST'>()
  expectTypeOf<ConsoleRoutes['createKey']['path']>().toEqualTypeOf<'/api/v2/tenants/{tenant}/keys'>()
  expectTypeOf<ConsoleRoutes['createKey']['by']>().toEqualTypeOf<'user'>()
  expectTypeOf<ConsoleRoutes['signIn']['by']>().toEqualTypeOf<'anyone'>()
  expectTypeOf<RefusalOf<ConsoleRoutes['revokeKey']>>().toEqualTypeOf<'key_not_active'>()
  expectTypeOf<RefusalOf<ConsoleRoutes['readMe']>>().toEqualTypeOf<never>()
})
