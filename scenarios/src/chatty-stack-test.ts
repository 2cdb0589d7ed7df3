import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { privatePostgres, privateRedis } from '@gateway/testbed/private-servers'
import { test } from 'vitest'
import { startOtlpReceiver } from './otlp-receiver.ts'
import { openStack } from './stack.ts'
import { everyKey, everyRow, logEveryStatement, watchRedis } from './stored-bytes.ts'

/* oxlint-disable no-empty-pattern -- vitest reads from the pattern what a fixture needs */

/**
 * `test` with services that log and trace all they can, on private servers, as one stack for the file. `places` returns
 * everything that they have stored, logged or sent. With `traceContent`, traces have the content of calls.
 */
export const chattyStackTest = test
  .extend('traceContent', { scope: 'file' }, () => false)
  .extend('postgresServer', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await privatePostgres()
    onCleanup(() => server.stop())
    await logEveryStatement(server)
    return server
  })
  .extend('redisServer', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await privateRedis()
    onCleanup(() => server.stop())
    return server
  })
  .extend('commands', { scope: 'file' }, async ({ redisServer }, { onCleanup }) => {
    const watched = await watchRedis(redisServer.url)
    onCleanup(watched.stop)
    return watched.commands
  })
  .extend('otlp', { scope: 'file' }, async ({}, { onCleanup }) => {
    const receiver = await startOtlpReceiver()
    onCleanup(receiver.stop)
    return receiver
  })
  .extend('stack', { scope: 'file' }, async ({ postgresServer, redisServer, otlp, traceContent }, { onCleanup }) => {
    const chatty = () => ({
      LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    })
    const traced = () => ({ ...chatty(), ...(traceContent && { TRACE_CONTENT: 'true' }) })
    const stack = await openStack({
      ...postgresServer,
      redisUrl: redisServer.url,
      workers: 1,
      environment: { ledger: chatty, gateway: traced, console: chatty, worker: traced },
    })
    onCleanup(stack.close)
    return stack
  })
  .extend('places', { scope: 'file' }, ({ stack, postgresServer, redisServer, commands, otlp }) => async () => ({
    'Postgres, every row': await everyRow(stack.fixture),
    'Postgres, every statement': await postgresServer.log(),
    'Redis, every key': await everyKey(redisServer.url),
    'Redis, every command': await commands(),
    'files and logs': await everyFile(stack.folder),
    traces: otlp.received('/v1/traces').toString('latin1'),
    metrics: otlp.received('/v1/metrics').toString('latin1'),
  }))

async function everyFile(folder: string): Promise<string> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile())
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(path.join(parentPath, name), 'utf8')))
  return texts.join('\n')
}
