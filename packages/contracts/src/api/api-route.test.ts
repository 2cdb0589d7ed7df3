import { expectTypeOf, test } from 'vitest'
import type { KeyRecord } from '../console/keys.ts'
import type { Page } from '../console/page.ts'
import type { MemberRecord } from '../console/people.ts'
import type { ExecutionRecord } from '../execution.ts'
import type { AnswerOf, BodyOf, CheckedBodyOf, CheckedQueryOf, ParameterOf, QueryOf, RefusalOf } from './api-route.ts'
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

test('a row says how, by whom and with which refusals of its own', () => {
  expectTypeOf<ConsoleRoutes['createKey']['method']>().toEqualTypeOf<'POST'>()
  expectTypeOf<ConsoleRoutes['createKey']['path']>().toEqualTypeOf<'/api/v2/tenants/{tenant}/keys'>()
  expectTypeOf<ConsoleRoutes['createKey']['by']>().toEqualTypeOf<'person'>()
  expectTypeOf<ConsoleRoutes['signIn']['by']>().toEqualTypeOf<'nobody'>()
  expectTypeOf<RefusalOf<ConsoleRoutes['revokeKey']>>().toEqualTypeOf<'key_not_active'>()
  expectTypeOf<RefusalOf<ConsoleRoutes['readMe']>>().toEqualTypeOf<never>()
})
