import { ask } from '@gateway/testbed/ask'
import type { PrivatePostgres } from '@gateway/testbed/private-servers'
import { monitorRedis } from '@gateway/testbed/redis-monitor'
import { Redis } from 'ioredis'
import type { Stack } from './stack.ts'

// Everything stored in Postgres and Redis, and everything sent to them.

type Fixture = Stack['fixture']

/** All rows of all tables as text; binary columns in hexadecimal. */
export async function everyRow(fixture: Fixture): Promise<string> {
  const { rows: tables } = await fixture.run(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  const parts: string[] = []
  for (const { name } of tables as { name: string }[]) {
    const { rows } = await fixture.run(`SELECT t::text AS row FROM ${name} t`)
    parts.push(name, ...(rows as { row: string }[]).map(({ row }) => row))
  }
  return parts.join('\n')
}

/** Makes a private Postgres server log every statement with its parameters. */
export async function logEveryStatement({ adminUrl }: PrivatePostgres): Promise<void> {
  await ask(adminUrl, `ALTER SYSTEM SET log_statement = 'all'`)
  await ask(adminUrl, 'SELECT pg_reload_conf()')
}

/** Records every command sent to a Redis server, including published messages. */
export async function watchRedis(url: string): Promise<{ commands: () => Promise<string>; stop: () => void }> {
  const commands: string[] = []
  const { caughtUp, stop } = await monitorRedis(url, ({ words }) => commands.push(words.join(' ')))
  return {
    async commands() {
      await caughtUp()
      return commands.join('\n')
    },
    stop,
  }
}

/** Every key of a Redis server with its value. */
export async function everyKey(url: string): Promise<string> {
  const redis = new Redis(url)
  try {
    const parts: unknown[] = []
    for (const key of await redis.keys('*')) {
      const type = await redis.type(key)
      parts.push(key, await valueOf(redis, key, type))
    }
    return JSON.stringify(parts)
  } finally {
    redis.disconnect()
  }
}

function valueOf(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case 'string':
      return redis.get(key)
    case 'hash':
      return redis.hgetall(key)
    case 'list':
      return redis.lrange(key, 0, -1)
    case 'set':
      return redis.smembers(key)
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES')
    case 'stream':
      return redis.xrange(key, '-', '+')
    default:
      throw new Error(`${key} has the unsupported type ${type}`)
  }
}
