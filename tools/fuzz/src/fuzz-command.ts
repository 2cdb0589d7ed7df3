import { randomBytes } from 'node:crypto'
import { privatePostgres, privateRedis } from '@gateway/testbed/private-servers'
import { readArguments } from './arguments.ts'
import { fuzz } from './fuzz.ts'
import { openFuzzStack } from './fuzz-stack.ts'
import { formatReport, isClean } from './report.ts'

// npm run fuzz [-- --requests <n>] [--seed <n>] [--seconds <n>]

const options = readArguments(process.argv.slice(2), randomBytes(4).readUInt32LE())
if ('usage' in options) {
  process[options.wrong ? 'stderr' : 'stdout'].write(options.usage)
  process.exit(options.wrong ? 64 : 0)
}

const log = (line: string) => void process.stdout.write(`${line}\n`)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())

const stops: (() => Promise<unknown>)[] = []
try {
  log(`Starting Postgres, Redis and the services (seed ${options.seed})`)
  const postgres = await privatePostgres()
  stops.push(() => postgres.stop())
  const redis = await privateRedis()
  stops.push(() => redis.stop())
  const { adminUrl, ledgerUrl, consoleUrl } = postgres
  const stack = await openFuzzStack({ adminUrl, ledgerUrl, consoleUrl, redisUrl: redis.url })
  stops.push(stack.stop)
  const report = await fuzz(options, { stack, log, stop: interrupted.signal })
  log(formatReport(report))
  process.exitCode = interrupted.signal.aborted ? 130 : isClean(report) ? 0 : 1
} catch (error) {
  process.exitCode = 1
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
} finally {
  for (const stop of stops.toReversed()) await stop()
}
