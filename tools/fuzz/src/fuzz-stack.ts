import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startMailServer } from '@gateway/testbed/mail-server'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import { startServices, type ServiceStack } from '@gateway/testbed/service-stack'
import type { TestProgram } from '@gateway/testbed/test-program'

export interface FuzzStack {
  services: ServiceStack
  fixture: Fixture
  /** Services whose process has ended or was replaced since the start. */
  ended(): string[]
  /**
   * Waits until no money is reserved, no execution is running and no permit is held, then checks the books. Returns
   * what is wrong; empty if nothing.
   */
  checkBooks(): Promise<string[]>
  /** Lines of the services' logs, of the level `error`. */
  loggedErrors(): LoggedError[]
  stop(): Promise<void>
}

export interface LoggedError {
  service: string
  message: string
  stack: string | null
}

interface Urls {
  adminUrl: string
  ledgerUrl: string
  consoleUrl: string
  redisUrl: string
}

/** Longer than heartbeats, release grace and the retries of a batch take together. */
const QUIET_LIMIT_MS = 90_000
const ASK_EVERY_MS = 200
/** All connections may be of one user at the same time, which must not be a finding. */
const OF_ONE_USER = 128
const PUBLIC_URL = 'https://models.example.test'
/** Gauges of work in progress. A request whose client has left must not stay in them. */
const IN_PROGRESS =
  /^(gateway_calls_open|gateway_followers|gateway_images_memory|gateway_embeddings_memory|gateway_console_requests|console_requests_permits)[ {]/
const checkCommand = path.resolve(import.meta.dirname, '../../../services/ledger/src/command.ts')

/** Starts one process of each service. Callers are distinguished by X-Forwarded-For, as behind a load balancer. */
export async function openFuzzStack(urls: Urls): Promise<FuzzStack> {
  const mailServer = await startMailServer()
  const services = await startServices({
    ...urls,
    workers: 1,
    environment: {
      ledger: () => ({ LOG_LEVEL: 'warn', PUBLIC_URL, RELEASE_GRACE_MS: '3000' }),
      gateway: () => ({
        LOG_LEVEL: 'warn',
        HEARTBEAT_MS: '1000',
        TRUSTED_PROXIES: 'loopback',
        MAX_CONCURRENT_CONSOLE_REQUESTS_PER_USER: String(OF_ONE_USER),
      }),
      worker: () => ({ LOG_LEVEL: 'warn' }),
      console: () => ({
        LOG_LEVEL: 'warn',
        MAX_CONCURRENT_REQUESTS_PER_USER: String(OF_ONE_USER),
        PUBLIC_URL,
        SMTP_URL: mailServer.url,
        SMTP_TLS: 'none',
        MAIL_FROM: 'Models <models@example.test>',
      }),
    },
  })
  const fixture = await openFixture(urls.adminUrl)
  const programs: TestProgram[] = [...services.ledgers, ...services.gateways, ...services.workers, ...services.consoles]
  const pids = new Map(programs.map((program) => [program, program.pid]))

  /** Counts of what is open. */
  async function unsettled(): Promise<Record<string, number>> {
    const { rows } = await fixture.run(
      `SELECT (SELECT count(*) FROM money.reservations)::int AS reservations,
              (SELECT count(*) FROM money.executions WHERE status IN ('Admitted', 'Running'))::int AS executions`,
    )
    const gauges = await Promise.all([...services.gateways, ...services.consoles].map(gaugesOf))
    return Object.assign({}, rows[0] as object, ...gauges) as Record<string, number>
  }

  async function untilQuiet(): Promise<string[]> {
    const until = performance.now() + QUIET_LIMIT_MS
    for (;;) {
      const open = Object.entries(await unsettled()).filter(([, count]) => count > 0)
      if (open.length === 0) return []
      if (performance.now() > until)
        return open.map(([what, count]) => `${what}: ${count} open after ${QUIET_LIMIT_MS / 1000} s`)
      await wait(ASK_EVERY_MS)
    }
  }

  return {
    services,
    fixture,
    ended: () =>
      programs.filter((one) => !one.isRunning || one.pid !== pids.get(one)).map(({ name }) => `${name} has ended`),
    checkBooks: async () => [...(await untilQuiet()), ...(await ledgerCheck(urls.ledgerUrl))],
    loggedErrors: () => programs.flatMap(errorsOf),
    async stop() {
      await fixture.close()
      await services.stop()
      await mailServer.stop()
    },
  }
}

/** Runs `ledger check --whole`. */
async function ledgerCheck(ledgerUrl: string): Promise<string[]> {
  const child = spawn(process.execPath, [checkCommand, 'check', '--whole'], {
    env: { DATABASE_URL: ledgerUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0 ? [] : [`ledger check: exit code ${code}\n${output.trimEnd()}`]
}

/** Gauges of work in progress of a service, by name and labels. */
async function gaugesOf({ name, metricsUrl }: TestProgram): Promise<Record<string, number>> {
  const lines = (await (await fetch(`${metricsUrl}/metrics`)).text()).split('\n')
  const words = lines.filter((line) => IN_PROGRESS.test(line)).map((line) => line.split(' '))
  if (words.length === 0) throw new Error(`${name} has no gauge of work in progress`)
  return Object.fromEntries(words.map(([gauge, value]) => [`${name} ${gauge}`, Number(value)]))
}

function errorsOf({ name, logFile }: TestProgram): LoggedError[] {
  const lines = readFileSync(logFile, 'utf8').split('\n')
  return lines.flatMap((line) => {
    if (!/"level":"(error|fatal)"/.test(line))
      return line === '' || line.startsWith('{') ? [] : [unreadable(name, line)]
    const { message, err } = JSON.parse(line) as {
      message?: string
      err?: { stack?: string }
    }
    return [{ service: name, message: message ?? '', stack: err?.stack ?? null }]
  })
}

/** A line that isn't a log line, such as a warning of Node or the end of a crashed process. */
const unreadable = (service: string, line: string): LoggedError => ({
  service,
  message: line,
  stack: null,
})
