import { exampleIds } from '@gateway/api/example-ids'
import { ACCESS_TOKEN_PREFIX, KEY_SECRET_PREFIX, makeSecret, USER_TOKEN_PREFIX } from '@gateway/api/ids'
import {
  formsOf,
  operations,
  type Operation,
  exampleRequest,
  type ExampleName,
  type OwnNames,
} from '@gateway/testbed/example-request'
import { openChance, type Chance } from './chance.ts'
import type { Body, Caller, Draft, FuzzRequest } from './draft.ts'
import { exampleBodies } from './example-bodies.ts'
import { jsonText } from './hostile-values.ts'
import { mutateMethod, mutatePath, mutateQuery } from './mutate-address.ts'
import { mutateBody } from './mutate-body.ts'
import { mutateHeaders, mutateTransport } from './mutate-headers.ts'
import { freshNames, NO_RECEIVER, type World } from './world.ts'

// Makes the nth request of a run: the example of an operation, with existing IDs and a credential, then changed.
//   G1  A request that deletes or ends something names what another request has created, never what the world needs.
//   G2  A third of the requests is unchanged, so that every operation is also used as documented.

const SHARES = { asDocumented: 0.33, rightCaller: 0.72, created: 0.2, foreign: 0.04, direct: 0.1 }
/** Operations with the most code behind them, and those that create what others end. */
const OFTEN = /chat\/completions|embeddings$|responses$|messages$|invoke|\/mcp|execute|rerun|revisions$/
const weighted = operations.flatMap((one) =>
  one.method !== 'POST' ? [one] : Array.from({ length: OFTEN.test(one.path) ? 4 : creates(one) ? 3 : 1 }, () => one),
)

function creates({ successes, path }: Operation): boolean {
  return '201' in successes && !path.includes('session')
}

export interface Worlds {
  current: World
  /** Another organization. */
  other: World
}

export function makeRequest(seed: number, n: number, { current: world, other }: Worlds): FuzzRequest {
  const chance = openChance(seed, n)
  const operation = chance.pick(weighted)
  const caller = callerOf(operation, chance)
  const names = namesOf(operation, caller, world, other, chance)
  const draft = draftOf(operation, caller, names, chance)
  authorize(draft, world, other, chance)
  if (!chance.hits(SHARES.asDocumented)) change(draft, chance)
  return finished(n, draft, world, chance)
}

const MUTATIONS: [share: number, mutate: (draft: Draft, chance: Chance) => string][] = [
  [0.5, mutateBody],
  [0.15, mutateQuery],
  [0.12, mutatePath],
  [0.15, mutateHeaders],
  [0.03, mutateMethod],
  [0.05, mutateTransport],
]

function change(draft: Draft, chance: Chance): void {
  const hasBody = draft.body.kind !== 'none'
  for (let left = chance.pick([1, 1, 1, 2, 2, 3, 5]); left > 0; left--) {
    let share = chance.below(1_000) / 1_000
    const found = MUTATIONS.find(([own]) => (share -= own) < 0) ?? MUTATIONS[0]!
    // A body where none belongs is tried, but not in half of all requests.
    const mutate = found[1] === mutateBody && !hasBody && !chance.hits(0.1) ? mutateQuery : found[1]
    draft.changes.push(mutate(draft, chance))
  }
}

/** Whether the operation ends or alters what its last ID names. */
function isDestructive({ method, path }: Operation): boolean {
  return method === 'DELETE' || method === 'PATCH' || /\/(pause|revoke|rotate|suspend|disable)$/.test(path)
}

/** The collection of the relation that an operation creates or ends, such as `grants`. */
export function relationOf({ path }: Operation): string | undefined {
  return /\/(grants|assignments|teams\/\{team\}\/members)(\/|$)/.exec(path)?.[1]
}

const USERS: Caller[] = [
  'member',
  'consumer',
  'tenantToken',
  'projectToken',
  'endedToken',
  'otherAdmin',
  'admin',
  'key',
]
const KEYS: Caller[] = ['unfundedKey', 'limitedKey', 'legacyKey', 'revokedKey', 'expiredKey', 'otherKey', 'owner']

function callerOf({ security, method, path }: Operation, chance: Chance): Caller {
  const byUser = security.some((one) => 'personalToken' in one)
  const byKey = security.some((one) => 'key' in one)
  if (path === '/api/v2/me/password' && method === 'PUT') return chance.hits(0.9) ? 'spare' : 'none'
  if (path === '/api/v2/me/sessions' && method === 'DELETE') return 'none' // it would end all tokens of the user
  if (!byUser && !byKey) return chance.hits(0.9) ? 'none' : chance.pick(['owner', 'forged'])
  const asKey = byKey && (!byUser || chance.hits(0.3))
  if (chance.hits(SHARES.rightCaller)) return asKey ? 'key' : 'owner'
  return chance.pick([...(asKey ? KEYS : USERS), 'created', 'forged', 'none'] as const)
}

const nameOfExample = new Map<unknown, ExampleName>(
  Object.entries(exampleIds).map(([name, example]) => [example, name as ExampleName]),
)

function namesOf(operation: Operation, caller: Caller, world: World, other: World, chance: Chance): OwnNames {
  const names = { ...world.names, ...freshNames(chance.text(10)), number: chance.pick(['1', '1', '2', '3']) }
  names.sandbox = chance.hits(0.6) ? world.sandboxes[0]! : chance.pick(world.sandboxes)
  names.product = chance.hits(0.8) ? world.products[0]! : chance.pick(world.products)
  if (caller === 'unfundedKey') Object.assign(names, world.unfunded)
  const kinds = Object.keys(exampleIds) as ExampleName[]
  for (const kind of kinds) {
    const made = chance.hits(SHARES.created) ? world.pool.pick(kind, chance) : undefined
    if (made !== undefined && kind !== 'tenant') names[kind] = made
  }
  if (chance.hits(SHARES.foreign)) {
    const kind = chance.pick(kinds)
    const foreign = other.names[kind]
    if (foreign !== undefined) names[kind] = foreign
  }
  const last = operation.parameters.findLast(({ in: place }) => place === 'path')
  const kind = nameOfExample.get(last?.example)
  const relation = relationOf(operation)
  if (isDestructive(operation) && kind !== undefined) {
    const made = relation ? world.pool.take(relation, chance) : pickOrTake(world, operation, kind, chance)
    names[kind] = made ?? missing(kind, chance) // G1
  } else if (relation && operation.method !== 'GET') {
    const other = relation === 'assignments' ? 'product' : 'user'
    if (chance.hits(0.7)) names[other] = world.pool.pick(other, chance) ?? names[other]!
  }
  names.signInCode = world.pool.pickSecret('code', chance) ?? chance.text(43)
  return names as OwnNames
}

function pickOrTake({ pool }: World, { method }: Operation, kind: ExampleName, chance: Chance): string | undefined {
  return method === 'DELETE' ? pool.take(kind, chance) : pool.pick(kind, chance)
}

/** A well-formed ID of nothing. */
function missing(kind: ExampleName, chance: Chance): string {
  if (kind === 'product') return `acme/${chance.text(10)}`
  const example = exampleIds[kind as keyof typeof exampleIds]
  return example.replace('example', `0${chance.text(25).replaceAll(/[ilou]/g, '0')}`)
}

function draftOf(operation: Operation, caller: Caller, names: OwnNames, chance: Chance): Draft {
  const forms = formsOf(operation)
  const request = exampleRequest(operation, names, forms.length > 0 ? chance.pick(forms) : undefined)
  const [path = '', query = ''] = request.path.split('?')
  const { 'content-type': contentType = 'application/json', ...headers } = request.headers
  if (operation.path.endsWith('/mcp')) headers['accept'] = 'application/json, text/event-stream'
  if (operation.method === 'POST' && chance.hits(0.3))
    // a new key, or one that others use too
    headers['idempotency-key'] = `fuzz-${chance.hits(0.5) ? chance.text(10) : `shared-${chance.below(30)}`}`
  const bodies = chance.hits(0.4) ? (exampleBodies[operation.name]?.(names) ?? []) : []
  const json = bodies.length > 0 ? chance.pick(bodies) : request.body
  const body: Body =
    json === undefined
      ? { kind: 'none' }
      : json instanceof Buffer
        ? { kind: 'bytes', bytes: json, contentType }
        : {
            kind: 'json',
            value: structuredClone(withoutOutsideAddress(json)),
            schema: operation.requestBody?.content['application/json']?.schema ?? {},
          }
  return {
    operation,
    caller,
    direct: operation.path.startsWith('/api/v2') && chance.hits(SHARES.direct),
    method: operation.method,
    segments: path.slice(1).split('/'),
    query: query === '' ? [] : query.split('&'),
    headers: Object.entries(headers),
    body,
    transport: { kind: 'whole' },
    changes: [],
  }
}

/** Webhooks never deliver to other machines. */
function withoutOutsideAddress(json: unknown): unknown {
  const hasUrl = typeof json === 'object' && json !== null && 'url' in json
  return hasUrl ? { ...json, url: NO_RECEIVER } : json
}

function authorize(draft: Draft, world: World, other: World, chance: Chance): void {
  const secret = secretOf(draft, world, other, chance)
  if (draft.operation.name === 'DELETE /api/v2/session') {
    const cookie = world.pool.pickSecret('cookie', chance)
    if (cookie !== undefined && secret !== null) {
      draft.caller = 'created'
      return void draft.headers.push(['cookie', cookie])
    }
  }
  if (secret !== null) draft.headers.push(['authorization', `Bearer ${secret}`])
}

function secretOf({ caller, operation }: Draft, world: World, other: World, chance: Chance): string | null {
  const byKey = operation.path.startsWith('/v1')
  if (caller === 'none') return null
  if (caller === 'otherKey') return other.secrets.key
  if (caller === 'otherAdmin') return other.secrets.admin
  if (caller === 'forged') {
    const prefix = byKey ? KEY_SECRET_PREFIX : USER_TOKEN_PREFIX
    const random = Uint8Array.from({ length: 32 }, () => chance.below(256))
    return chance.hits(0.7) ? makeSecret(prefix, random) : `${prefix}${chance.text(20)}`
  }
  if (caller !== 'created') return world.secrets[caller]
  const prefix = byKey ? KEY_SECRET_PREFIX : chance.pick([USER_TOKEN_PREFIX, ACCESS_TOKEN_PREFIX])
  return world.pool.pickSecret(prefix, chance) ?? world.secrets[byKey ? 'key' : 'owner']
}

function finished(n: number, draft: Draft, world: World, chance: Chance): FuzzRequest {
  const { operation, caller, direct, method, segments, query, headers, body, transport, changes } = draft
  const bytes = body.kind === 'none' ? null : body.kind === 'bytes' ? body.bytes : Buffer.from(jsonText(body.value))
  const hasType = headers.some(([name]) => name === 'content-type')
  const type = body.kind === 'bytes' ? body.contentType : 'application/json'
  const address = Array.from({ length: 4 }, () => 1 + chance.below(250)).join('.')
  return {
    n,
    operation,
    caller,
    direct,
    method,
    path: `/${segments.join('/')}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: [
      ...headers,
      ...(bytes !== null && !hasType ? [['content-type', type] as [string, string]] : []),
      ...(headers.some(([name]) => name === 'x-forwarded-for')
        ? []
        : [['x-forwarded-for', address] as [string, string]]),
    ],
    body: bytes,
    transport,
    changes,
    foreign: caller.startsWith('other') && segments.some((id) => world.kept.has(decoded(id))),
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
