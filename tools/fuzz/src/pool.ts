import type { ExampleName } from '@gateway/testbed/example-request'
import type { Chance } from './chance.ts'

/**
 * Resources and secrets that requests of the run have created. Requests that delete or end something use only these, so
 * that the resources which other requests need stay.
 */
export interface Pool {
  /** Collects what a response to a POST names, except what others need. */
  harvest(body: unknown, kept: ReadonlySet<string>): void
  /** Adds one. @param kind an example name, or the collection that a relation is in, such as `grants` */
  add(kind: string, id: string): void
  /** One that exists or existed; undefined if none was created yet. */
  pick(kind: string, chance: Chance): string | undefined
  /** The same, removed from the pool. */
  take(kind: string, chance: Chance): string | undefined
  keepSecret(kind: string, secret: string): void
  /** @param kind prefix of a key or token, or `cookie` */
  pickSecret(kind: string, chance: Chance): string | undefined
}

const KIND_OF_PREFIX: Record<string, ExampleName> = {
  ten: 'tenant',
  tea: 'team',
  usr: 'user',
  prj: 'project',
  key: 'key',
  inv: 'invocation',
  whk: 'webhook',
  sbx: 'sandbox',
  exe: 'execution',
  ast: 'asset',
  tok: 'token',
  atk: 'accessToken',
}
const ID = /^([a-z]{3})[_-][0-9a-z]{26}$/
/** Per kind. The oldest are dropped first: they were probably deleted. */
const MOST = 200

export function openPool(): Pool {
  const ids = new Map<string, string[]>()
  const secrets = new Map<string, string[]>()

  function add(to: Map<string, string[]>, kind: string, value: string): void {
    const values = to.get(kind) ?? []
    to.set(kind, values)
    values.push(value)
    if (values.length > MOST) values.shift()
  }

  function harvest(body: unknown, kept: ReadonlySet<string>): void {
    if (typeof body !== 'object' || body === null) return
    const { id, asset = id, secret } = body as { id?: unknown; asset?: unknown; secret?: unknown }
    if (typeof secret === 'string') add(secrets, secret.slice(0, 4), secret)
    if (typeof asset === 'string' && !kept.has(asset)) {
      const kind = asset.includes('/') ? 'product' : KIND_OF_PREFIX[ID.exec(asset)?.[1] ?? '']
      if (kind !== undefined) add(ids, kind, asset)
    }
    // A new key, token or webhook is inside the response that has its secret.
    for (const inner of ['key', 'token', 'webhook']) harvest((body as Record<string, unknown>)[inner], kept)
  }

  return {
    harvest,
    add: (kind, id) => add(ids, kind, id),
    pick: (kind, chance) => pickFrom(ids.get(kind), chance),
    take(kind, chance) {
      const values = ids.get(kind) ?? []
      return values.splice(chance.below(values.length), 1)[0]
    },
    keepSecret: (kind, secret) => add(secrets, kind, secret),
    pickSecret: (kind, chance) => pickFrom(secrets.get(kind), chance),
  }
}

function pickFrom(values: string[] | undefined, chance: Chance): string | undefined {
  return values && values.length > 0 ? chance.pick(values) : undefined
}
