import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { readRedisUrl, type RedisHost, type RedisPlace } from './redis-url.ts'

/** How a connection behaves, wherever it goes. */
export type ConnectionManner = {
  [
    Name in
      | 'autoResendUnfulfilledCommands'
      | 'autoResubscribe'
      | 'commandTimeout'
      | 'connectTimeout'
      | 'enableOfflineQueue'
      | 'lazyConnect'
      | 'maxRetriesPerRequest'
      | 'retryStrategy'
      | 'socketTimeout'
  ]?: Exclude<RedisOptions[Name], undefined>
}

export type RedisClient = Redis | Cluster

/**
 * Opens a connection to wherever `url` says: one server, the master that Sentinels name, or a Cluster.
 * @throws Error for a url in none of the forms of redis-url.ts; it quotes nothing of it
 */
export function openRedis(url: string, manner: ConnectionManner): RedisClient {
  const place = placeOf(url)
  switch (place.kind) {
    case 'server':
      return new Redis(place.url, manner)
    case 'sentinel':
      return new Redis(sentinelOptions(place, manner))
    case 'cluster':
      return openCluster(place, manner)
  }
}

/**
 * The same for a library that opens its connections itself: options for it where they can say it all, and for a Cluster an
 * open client, which whoever asked closes.
 */
export function redisConnection(url: string, manner: ConnectionManner) {
  const place = placeOf(url)
  switch (place.kind) {
    case 'server':
      return { url: place.url, ...manner }
    case 'sentinel':
      return sentinelOptions(place, manner)
    case 'cluster':
      return openCluster(place, manner)
  }
}

/** Every server that may hold data: the one, or each master of a Cluster. */
export function mastersOf(client: RedisClient): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client]
}

type BySentinels = Extract<RedisPlace, { kind: 'sentinel' }>
type InCluster = Extract<RedisPlace, { kind: 'cluster' }>

function placeOf(url: string): RedisPlace {
  const place = readRedisUrl(url)
  if (place === null) throw new Error('REDIS_URL has none of the forms that redis-url.ts lists')
  return place
}

function sentinelOptions(place: BySentinels, manner: ConnectionManner) {
  const { sentinels, master, database, login, sentinelLogin, tls } = place
  const { retryStrategy, connectTimeout } = manner
  return {
    ...manner,
    ...login,
    sentinels,
    name: master,
    db: database,
    ...(sentinelLogin.username && { sentinelUsername: sentinelLogin.username }),
    ...(sentinelLogin.password && { sentinelPassword: sentinelLogin.password }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    // Asks around as patiently as it would ask one server.
    ...(retryStrategy !== undefined && { sentinelRetryStrategy: (times: number) => retryStrategy?.(times) ?? null }),
    ...(connectTimeout !== undefined && { sentinelCommandTimeout: connectTimeout }),
  } satisfies RedisOptions
}

function openCluster({ nodes, login, tls }: InCluster, manner: ConnectionManner): Cluster {
  const { retryStrategy, enableOfflineQueue, lazyConnect, ...perNode } = manner
  return new Cluster(nodes satisfies RedisHost[], {
    ...(retryStrategy !== undefined && { clusterRetryStrategy: (times: number) => retryStrategy?.(times) ?? null }),
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(lazyConnect !== undefined && { lazyConnect }),
    // The certificate names the host, so a name is not replaced by its address.
    ...(tls && { dnsLookup: (name, found) => found(null, name) }),
    redisOptions: { ...perNode, ...login, ...(tls && { tls: {} }) },
  })
}
