import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { readRedisUrl, type RedisHost, type RedisAddress } from './redis-url.ts'

/** How a connection behaves, wherever it goes. */
export type ConnectionOptions = {
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
 * The same for a library that opens its connections itself: options for it where they can say it all, and for a Cluster an
 * open client, which whoever parameters closes.
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

/** Every server that may hold data: the one, or each master of a Cluster. */
export function mastersOf(client: RedisClient): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client]
}

type SentinelAddress = Extract<RedisAddress, { kind: 'sentinel' }>
type ClusterAddress = Extract<RedisAddress, { kind: 'cluster' }>

function addressOf(url: string): RedisAddress {
  const address = readRedisUrl(url)
  if (address === null) throw new Error('REDIS_URL has none of the forms that redis-url.ts lists')
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
    // Asks around as patiently as it would ask one server.
    ...(retryStrategy !== undefined && { sentinelRetryStrategy: (times: number) => retryStrategy?.(times) ?? null }),
    ...(connectTimeout !== undefined && { sentinelCommandTimeout: connectTimeout }),
  } satisfies RedisOptions
}

function openCluster({ nodes, login, tls }: ClusterAddress, options: ConnectionOptions): Cluster {
  const { retryStrategy, enableOfflineQueue, lazyConnect, ...perNode } = options
  return new Cluster(nodes satisfies RedisHost[], {
    ...(retryStrategy !== undefined && { clusterRetryStrategy: (times: number) => retryStrategy?.(times) ?? null }),
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(lazyConnect !== undefined && { lazyConnect }),
    // The certificate names the host, so a name is not replaced by its address.
    ...(tls && { dnsLookup: (name, found) => found(null, name) }),
    redisOptions: { ...perNode, ...login, ...(tls && { tls: {} }) },
  })
}
