import { operations } from '@gateway/testbed/example-request'
import { expect, test } from 'vitest'
import { makeRequest } from './make-request.ts'
import { openPool, type World, worldCallers } from './world.ts'

const kinds = [
  'tenant',
  'team',
  'user',
  'project',
  'key',
  'webhook',
  'sandbox',
  'asset',
  'token',
  'accessToken',
] as const

function world(name: string): World {
  const names = Object.fromEntries(kinds.map((kind) => [kind, `${kind}-of-${name}`]))
  return {
    names: { ...names, product: `acme/${name}`, invocation: 'inv-1', execution: 'exe-1' },
    unfunded: {},
    sandboxes: [`sandbox-of-${name}`],
    products: [`acme/${name}`],
    secrets: Object.fromEntries(worldCallers.map((caller) => [caller, `${caller}-of-${name}`])) as World['secrets'],
    pool: openPool(),
    kept: new Set([...Object.values(names), `acme/${name}`]),
    requests: 0,
  }
}

const worlds = () => ({ current: world('one'), other: world('two') })
const made = (seed: number, count: number) => {
  const given = worlds()
  return Array.from({ length: count }, (_, n) => makeRequest(seed, n, given))
}

test('the same seed makes the same requests', () => {
  expect(made(7, 300)).toEqual(made(7, 300))
  expect(made(7, 10)).not.toEqual(made(8, 10))
})

test('every operation is requested, and each also unchanged', () => {
  const requests = made(1, 10_000)
  const named = new Set(requests.filter(({ changes }) => changes.length === 0).map(({ operation }) => operation.name))
  expect(named).toEqual(new Set(operations.map(({ name }) => name)))
})

test('a request that deletes or ends something never names what other requests need', () => {
  const ending = made(1, 5_000).filter(({ method, operation }) => method === 'DELETE' && operation.method === 'DELETE')
  expect(ending.length).toBeGreaterThan(100)
  for (const { path } of ending) expect(path.split('/').at(-1)).not.toMatch(/-of-one/)
})

test('each kind of caller appears', () => {
  const callers = new Set(made(1, 5_000).map(({ caller }) => caller))
  for (const caller of ['key', 'owner', 'otherKey', 'otherAdmin', 'none', 'forged'] as const)
    expect(callers).toContain(caller)
})
