import type { ApiRoute } from '@gateway/api/api-route'
import { consoleRoutes } from '@gateway/api/console-routes'
import { exampleIds, exampleValues } from '@gateway/api/example-ids'
import { describe, expect, test } from 'vitest'
import { listRequests, type ReadOperation } from './list-requests.ts'

const requests = listRequests(
  { ...exampleIds, projectName: 'Search', userEmail: exampleValues.email },
  new Date('2026-11-20T10:15:00.000Z'),
)
const asked = Object.entries(requests).flatMap(([operation, of]) =>
  typeof of === 'string' ? [] : of.map((request) => ({ operation: operation as ReadOperation, ...request })),
)

describe('listRequests', () => {
  test('has an entry for every GET route of the console', () => {
    const reads = Object.entries<ApiRoute>(consoleRoutes).filter(([, { method }]) => method === 'GET')
    expect(Object.keys(requests).toSorted()).toEqual(reads.map(([operation]) => operation).toSorted())
  })

  test('leaves out no route that answers with a list', () => {
    const leftOut = Object.entries(requests).filter(([, of]) => typeof of === 'string')
    expect(leftOut.map(([operation]) => operation).filter((operation) => /^(list|count)/.test(operation))).toEqual([])
  })

  test('sends queries that the routes accept', () => {
    const wrong = asked.filter(({ operation, query }) => {
      const route: ApiRoute = consoleRoutes[operation]
      return route.query ? !route.query.safeParse(query ?? {}).success : query !== undefined
    })
    expect(wrong).toEqual([])
  })

  test('gives each request a different name', () => {
    const names = asked.map(({ what }) => what)
    expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([])
  })
})
