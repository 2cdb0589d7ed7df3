import { z } from 'zod'

// What REDIS_URL may say. The forms with + are ours: the registered schemes name one server only.
//   redis://[user:password@]host[:port][/database]                                     one server
//   redis+sentinel://[user:password@]host[:port],host…/master[?database=&sentinelUsername=&sentinelPassword=]
//   redis+cluster://[user:password@]host[:port],host…                                  nodes to begin with; the rest are found
// With rediss in the place of redis every connection is TLS. User, password and query are percent-encoded.

export interface RedisHost {
  host: string
  port: number
}

interface Login {
  username?: string
  password?: string
}

/** Where Redis is. */
export type RedisAddress =
  | { kind: 'server'; url: string }
  | ({ kind: 'sentinel'; sentinels: RedisHost[]; master: string; database: number; sentinelLogin: Login } & Secured)
  | ({ kind: 'cluster'; nodes: RedisHost[] } & Secured)

interface Secured {
  login: Login
  tls: boolean
}

const FORMS =
  'expected redis://host:6379, redis+sentinel://host:26379,host:26379/master or redis+cluster://host:6379,host:6379, with rediss for TLS'

/** A configuration field: the address of Redis, in one of the three forms, kept as text. */
export function redisUrl() {
  return z.string().refine((text) => readRedisUrl(text) !== null, FORMS)
}

const several =
  /^(?<tls>rediss?)\+(?<kind>sentinel|cluster):\/\/(?:(?<login>[^@/?]*)@)?(?<hosts>[^@/?]+)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/
const host = /^(?<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?<port>\d{1,5}))?$/

/** Null for what is none of the forms. */
export function readRedisUrl(text: string): RedisAddress | null {
  if (/^rediss?:\/\//.test(text)) return URL.canParse(text) && new URL(text).host ? { kind: 'server', url: text } : null
  const found = several.exec(text)?.groups as Record<string, string | undefined> | undefined
  if (found === undefined) return null
  const sentinel = found['kind'] === 'sentinel'
  const hosts = readHosts(found['hosts'] ?? '', sentinel ? 26_379 : 6_379)
  const login = readLogin(found['login'])
  if (hosts === null || login === null) return null
  const secured = { login, tls: found['tls'] === 'rediss' }
  const { path = '', query = '' } = found
  if (!sentinel) return path === '' && query === '' ? { kind: 'cluster', nodes: hosts, ...secured } : null

  const parameters = z
    .strictObject({
      database: z
        .string()
        .regex(/^\d{1,4}$/)
        .optional(),
      sentinelUsername: z.string().min(1).optional(),
      sentinelPassword: z.string().min(1).optional(),
    })
    .safeParse(Object.fromEntries(new URLSearchParams(query)))
  const master = decoded(path)
  if (!parameters.success || !master) return null
  const { database = '0', sentinelUsername: username, sentinelPassword: password } = parameters.data
  const sentinelLogin = { ...(username && { username }), ...(password && { password }) }
  return { kind: 'sentinel', sentinels: hosts, master, database: Number(database), sentinelLogin, ...secured }
}

function readHosts(text: string, usualPort: number): RedisHost[] | null {
  const hosts: RedisHost[] = []
  for (const entry of text.split(',')) {
    const found = host.exec(entry)?.groups
    const port = Number(found?.['port'] ?? usualPort)
    if (found?.['name'] === undefined || port < 1 || port > 65_535) return null
    hosts.push({ host: found['name'].replace(/^\[|\]$/g, ''), port })
  }
  return hosts
}

/** `user:password`, `:password` or `user`. */
function readLogin(text: string | undefined): Login | null {
  if (!text) return {}
  const colon = text.indexOf(':')
  const username = decoded(colon < 0 ? text : text.slice(0, colon))
  const password = colon < 0 ? '' : decoded(text.slice(colon + 1))
  if (username === null || password === null) return null
  return { ...(username && { username }), ...(password && { password }) }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
