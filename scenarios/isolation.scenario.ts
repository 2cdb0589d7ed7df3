import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { consoleApp } from '@gateway/console/app'
import { gatewayApp } from '@gateway/gateway/app'
import { callerAt, said, type Answer, type Caller } from './src/caller.ts'
import { stackTest } from './src/stack-test.ts'
import type { Stack } from './src/stack.ts'
import { consoleMatrix, type ConsoleRow, openRoutes } from './src/isolation/console-matrix.ts'
import { gatewayMatrix, openGatewayRoutes } from './src/isolation/gateway-matrix.ts'
import { imprint, namesIn, send, type Asked } from './src/isolation/request-of.ts'
import {
  hiddenFrom,
  idsOfNothing,
  keys,
  openIsolationFixture,
  users,
  type IdName,
  type Ids,
  type IsolationFixture,
} from './src/isolation/isolation-fixture.ts'
import { neverAsked, surfaceOf } from './src/routes-of.ts'

// The whole route table against every kind of caller (architecture §S5).
//   M1  A request naming a resource of another project or tenant gets the same bytes as one naming a missing resource, except for
//       the echoed ID.
//   M2  A refused request changes nothing.
//   M3  A response names nothing that the caller may not see.
//   M4  A route without a row fails.

const fresh = () => randomBytes(6).toString('hex')
const urlOf = (stack: Stack) => stack.gateways[0]!.url
/** `isolation` is for requests that change nothing: reads, and those that are refused. */
const test = stackTest.extend('isolation', { scope: 'file' }, ({ stack }) =>
  openIsolationFixture(stack.fixture, urlOf(stack)),
)

describe('the isolation matrix', () => {
  const never = neverAsked()

  // spec: 4/s1, 4.5/r3
  test('has a row for every gateway route', () => {
    const { routes, mounts } = surfaceOf(gatewayApp(never))
    const rows = new Set(gatewayMatrix.map(({ route }) => route))
    expect(routes.filter((route) => !(route in openGatewayRoutes)).toSorted()).toEqual([...rows].toSorted())
    expect(mounts).toEqual(['/api/v2', '/console']) // the console, tested below
  })

  // spec: can/console-api
  test('has a row for every console route', () => {
    const { routes, mounts } = surfaceOf(consoleApp(never))
    const twice = routes.filter((route, n) => routes.indexOf(route) !== n)
    expect(Object.keys(openRoutes)).toEqual(expect.arrayContaining(twice)) // their bodies are received first
    expect([...new Set(routes)].toSorted()).toEqual(
      [...Object.keys(consoleMatrix), ...Object.keys(openRoutes)].toSorted(),
    )
    expect(new Set(mounts)).toEqual(new Set(['/api/v2'])) // session and origin checks
  })
})

describe('console isolation', () => {
  for (const [route, row] of Object.entries(consoleMatrix)) {
    // spec: 1/s6, 2.3/s1, 5/s9, 5/s10
    test(`answers each caller of ${route} as its row says`, async ({ stack, isolation }) => {
      const { own } = isolation
      const before = await written(stack, own.tenant)
      const callers = callersOf(isolation, row)
      const ask = async (caller: Caller, ids = own) => send(caller, route, row, ids, fresh())

      if (row.bySession)
        for (const name of users)
          expect([name, said(await ask(isolation.callers[name]))]).toEqual([name, '403 session_required'])
      for (const name of users.filter((user) => !row.says[user].startsWith('2'))) {
        const answer = await ask(callers[name])
        expect([name, said(answer)]).toEqual([name, row.says[name]])
        if (answer.status === 404)
          await expectLikeNothing(stack, answer, own, (ids) => ask(callers[name], ids), route, row)
      }
      for (const name of keys.filter((key) => !row.keysSay?.[key].startsWith('2'))) {
        const answer = await ask(callers[name])
        expect([name, said(answer)]).toEqual([name, row.keysSay?.[name] ?? '401 token_invalid'])
        if (answer.status === 404)
          await expectLikeNothing(stack, answer, own, (ids) => ask(callers[name], ids), route, row)
      }
      expect(said(await ask(callers.anonymous))).toBe('401 session_missing')
      for (const bad of isolation.badTokens) expect(said(await ask(bad))).toBe('401 token_invalid')
      await expectOthersLikeNothing(stack, callers.owner, isolation.neighbours, own, route, row, row.sharedInTenant)
      await expectOthersLikeNothing(stack, callers.owner, isolation.otherTenant, own, route, row)
      await expectOthersLikeNothing(stack, callers.admin, isolation.otherTenant, own, route, row)
      const { neighbours, otherTenant, tokens } = isolation
      await expectOthersLikeNothing(stack, tokens.neighbour, own, neighbours, route, row, row.sharedInTenant)
      await expectOthersLikeNothing(stack, tokens.otherTenant, own, otherTenant, route, row)
      if (row.keysSay) await expectOthersLikeNothing(stack, callers.key, isolation.otherTenant, own, route, row)
      expect(await written(stack, own.tenant)).toEqual(before) // M2

      for (const name of [...users, ...keys]) {
        const says = name in row.says ? row.says[name as never] : row.keysSay?.[name as never]
        if (!(says as string | undefined)?.startsWith('2')) continue
        const another = route.startsWith('GET') ? isolation : await openIsolationFixture(stack.fixture, urlOf(stack))
        const answer = await send(callersOf(another, row)[name], route, row, another.own, fresh())
        expect([name, said(answer)]).toEqual([name, says])
        const hidden = hiddenFrom(name, another)
        expectUnseen(answer, row.namesProjects ? hidden.filter((id) => !id.startsWith('prj_')) : hidden)
      }
    })
  }
})

/** Users send a session where the route takes one. */
function callersOf({ callers, sessions }: IsolationFixture, { bySession }: ConsoleRow): IsolationFixture['callers'] {
  return bySession ? { ...callers, ...sessions } : callers
}

describe('gateway isolation', () => {
  for (const row of gatewayMatrix) {
    const { route, says } = row
    const named = namesIn(route, row, {} as Ids).join(' and ')
    // spec: 4/s1, 4.1/s4, 4.2/s13, 4.5/r2, 4.5/r3, 5/s11, 5/s12, 7/r4
    test(`answers each caller of ${route}${named && `, naming the ${named},`} as its row says`, async ({ stack }) => {
      const isolation = await openIsolationFixture(stack.fixture, urlOf(stack))
      const { own, callers } = isolation
      for (const name of Object.keys(says) as (keyof typeof says)[]) {
        const ask = (ids: Ids) => send(callers[name], route, row, ids, fresh())
        const answer = await ask(own)
        expect([name, said(answer)]).toEqual([name, says[name]])
        if (answer.status < 300) expectUnseen(answer, hiddenFrom(name, isolation))
        else await expectLikeNothing(stack, answer, own, ask, route, row)
      }
      await expectOthersLikeNothing(stack, callers.key, isolation.neighbours, own, route, row)
      await expectOthersLikeNothing(stack, callers.key, isolation.otherTenant, own, route, row)
      for (const { project } of [isolation.neighbours, isolation.otherTenant])
        expect(await stack.fixture.run('SELECT FROM money.journal WHERE project = $1', [project])).toMatchObject({
          rowCount: 1, // the initial funding
        })
    })
  }
})

describe('routes without a credential', () => {
  test('answer every caller alike and name no ID', async ({ stack }) => {
    const { anonymous, owner, legacyKey } = (await openIsolationFixture(stack.fixture, urlOf(stack))).callers
    for (const [route, says] of Object.entries({ ...openRoutes, ...openGatewayRoutes })) {
      const [method = '', path = ''] = route.replace('*file', 'index.html').split(' ')
      const ofGateway = path.startsWith('/docs') || ['/llms.txt', '/openapi.json'].includes(path)
      const urls = path === '/' ? [stack.console!.url] : [urlOf(stack), ...(ofGateway ? [] : [stack.console!.url])]
      for (const [url, { secret }] of urls.flatMap((at) =>
        [anonymous, owner, legacyKey].map((one) => [at, one] as const),
      )) {
        const answer = await callerAt(url, secret).ask(method, path, method === 'POST' ? {} : undefined)
        expect([route, said(answer)]).toEqual([route, says])
        expect(answer.text).not.toMatch(/(?:ten|prj|key|per|inv|tea|tok|ses)_[0-9a-z]{26}/)
      }
    }
  })
})

/** M1: compares the response about a real resource with the response about a missing one. */
async function expectLikeNothing(
  { fixture }: Stack,
  answer: Answer,
  ids: Ids,
  ask: (ids: Ids) => Promise<Answer>,
  route: string,
  asked: Asked,
): Promise<void> {
  const nothing = idsOfNothing(fixture)
  for (const name of namesIn(route, asked, ids)) {
    const unreal = { ...ids, [name]: nothing[name] }
    expect([name, imprint(await ask(unreal), unreal)]).toEqual([name, imprint(answer, ids)])
  }
}

/** M1: compares a request that names another's resource with the same request naming a missing one. */
async function expectOthersLikeNothing(
  { fixture }: Stack,
  caller: Caller,
  others: Ids,
  own: Ids,
  route: string,
  asked: Asked,
  shared: IdName[] = [],
): Promise<void> {
  const nothing = idsOfNothing(fixture)
  const catalogue: IdName[] = route.includes('/api/v2/') ? ['product', 'newProduct'] : [] // anyone may assign these
  for (const name of namesIn(route, asked, own)) {
    if (others[name] === own[name] || shared.includes(name) || catalogue.includes(name)) continue
    const [theirs, unreal] = [others, nothing].map((from) => ({ ...own, [name]: from[name] })) as [Ids, Ids]
    const [about, aboutNothing] = [
      await send(caller, route, asked, theirs, fresh()),
      await send(caller, route, asked, unreal, fresh()),
    ]
    expect([name, imprint(about, theirs)]).toEqual([name, imprint(aboutNothing, unreal)])
    expect(about.status).toBeGreaterThanOrEqual(400)
  }
}

/** M3 */
function expectUnseen({ text }: Answer, hidden: string[]): void {
  expect(hidden.filter((id) => text.includes(id))).toEqual([])
}

/** How many changes and fundings of a tenant the books have. */
async function written({ fixture }: Stack, tenant: string) {
  const { rows } = await fixture.run(
    `SELECT (SELECT count(*) FROM control.audit WHERE tenant = $1)::int AS changes,
            (SELECT count(*) FROM money.fundings f JOIN control.projects p ON p.id = f.project WHERE p.tenant = $1)::int AS fundings`,
    [tenant],
  )
  return rows
}
