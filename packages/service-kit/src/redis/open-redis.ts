import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { z } from 'zod'

/** Behavior of a connection, for every form of the address. */
export type ConnectionOptions = {
  [
    Name in
      | 'autoResendUnfulfilledCommands'
      | 'autoResubscribe'
      | 'commandTimeout'
      | 'enableOfflineQueue'
      | 'lazyConnect'
      | 'maxRetriesPerRequest'
      | 'retryStrategy'
      | 'socketTimeout'
  ]?: Exclude<RedisOptions[Name], undefined>
} & {
  /** Milliseconds. Also of each question to a Sentinel: one that stays silent would hold up the connection forever. */
  connectTimeout: number
}

export type RedisClient = Redis | Cluster

/**
 * Opens a connection to the address in `url`: one server, the master that Sentinels name, or a Cluster.
 * @throws Error for a url in none of the forms of open-redis.ts, without quoting it
 */
export function openRedis(url: string, options: ConnectionOptions): RedisClient {
  const address = addressOf(url)
  switch (address.kind) {
    case 'server':
      return new Redis(address.url, options)
    case 'sentinel':
      return new Redis(sentinelOptions(address, options))
    case 'cluster':
      return openCluster(address, options)
  }
}

/**
 * The same for a library that opens its connections itself: options where they suffice, and for a Cluster an open
 * client, which the caller closes.
 */
export function redisConnection(url: string, options: ConnectionOptions) {
  const address = addressOf(url)
  switch (address.kind) {
    case 'server':
      return { url: address.url, ...options }
    case 'sentinel':
      return sentinelOptions(address, options)
    case 'cluster':
      return openCluster(address, options)
  }
}

/** Every server that may hold data: the only one, or each master of a Cluster. */
export function mastersOf(client: RedisClient): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client]
}

type SentinelAddress = Extract<RedisAddress, { kind: 'sentinel' }>
type ClusterAddress = Extract<RedisAddress, { kind: 'cluster' }>

function addressOf(url: string): RedisAddress {
  const address = readRedisUrl(url)
  if (address === null) throw new Error('REDIS_URL has none of the forms listed in open-redis.ts')
  return address
}

function sentinelOptions(address: SentinelAddress, options: ConnectionOptions) {
  const { sentinels, master, database, login, sentinelLogin, tls } = address
  const { retryStrategy, connectTimeout } = options
  return {
    ...options,
    ...login,
    sentinels,
    name: master,
    db: database,
    ...(sentinelLogin.username && { sentinelUsername: sentinelLogin.username }),
    ...(sentinelLogin.password && { sentinelPassword: sentinelLogin.password }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    // Retries the Sentinels like a single server.
    ...(retryStrategy !== undefined && { sentinelRetryStrategy: (times: number) => retryStrategy?.(times) ?? null }),
    sentinelCommandTimeout: connectTimeout,
  } satisfies RedisOptions
}

function openCluster({ nodes, login, tls }: ClusterAddress, options: ConnectionOptions): Cluster {
  const { retryStrategy, enableOfflineQueue, lazyConnect, ...perNode } = options
  return new Cluster(nodes satisfies RedisHost[], {
    ...(retryStrategy !== undefined && { clusterRetryStrategy: (times: number) => retryStrategy?.(times) ?? null }),
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(lazyConnect !== undefined && { lazyConnect }),
    // The certificate is for the host name, so the name is not replaced by its address.
    ...(tls && { dnsLookup: (name, found) => found(null, name) }),
    redisOptions: { ...perNode, ...login, ...(tls && { tls: {} }) },
  })
}

// Forms of REDIS_URL. Those with + are ours: the registered schemes name only one server.
//   redis://[user:password@]host[:port][/database]                                     one server
//   redis+sentinel://[user:password@]host[:port],host…/master[?database=&sentinelUsername=&sentinelPassword=]
//   redis+cluster://[user:password@]host[:port],host…                                  some nodes; the client discovers the rest
// With rediss instead of redis every connection is TLS. User, password and query are percent-encoded.

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

/** A configuration field: the address of Redis, in one of the three forms, as text. */
export function redisUrl() {
  return z.string().refine((text) => readRedisUrl(text) !== null, FORMS)
}

const several =
  /^(?<tls>rediss?)\+(?<kind>sentinel|cluster):\/\/(?:(?<login>[^@/?]*)@)?(?<hosts>[^@/?]+)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/
const host = /^(?<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?<port>\d{1,5}))?$/

/** Null for an address in none of the forms. */
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
