import { setTimeout as wait } from 'node:timers/promises'
import { startServices, type ServiceStack } from '@gateway/testbed/service-stack'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import type { BenchDeps } from '../bench.ts'
import { formatStatuses, startAttack } from '../edge/attacker.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table } from '../report/table.ts'
import { formatTargets, type Target } from '../report/targets.ts'
import { startBenchServers } from '../stack/bench-servers.ts'

// Eighty connections guess passwords without pause, each for another email, from one address and from eighty. Meanwhile
// a user signs in on a device that the console does not know.

const GUESSERS = 80
const SIGN_INS = 10
const WITHIN_MS = 2_000
const PASSWORD = 'correct horse battery'
const OWNER = '203.0.113.1'

const VARIANTS = [
  { name: 'one address', addressOf: () => '198.51.100.1' },
  { name: `${GUESSERS} addresses`, addressOf: (n: number) => `198.51.100.${n + 1}` },
]

export async function signIn({ options, stops, log }: BenchDeps): Promise<string> {
  log('Starting Postgres, Redis and the services')
  const { postgres, redis } = await startBenchServers(stops)
  const fixture = await openFixture(postgres.adminUrl)
  stops.add(fixture.close)
  const stack = await startServices({
    ledgerUrl: postgres.ledgerUrl,
    consoleUrl: postgres.consoleUrl,
    redisUrl: redis.url,
    environment: { console: () => ({ TRUSTED_PROXIES: 'loopback', LOG_LEVEL: 'error' }) },
  })
  stops.add(stack.stop)
  const email = await userWithPassword(stack, fixture)
  const quiet = await slowestSignIn(stack, email)
  const rows: string[][] = [['no one', ms(quiet), '']]
  const targets: Target[] = []
  for (const { name, addressOf } of VARIANTS) {
    log(`Guesses from ${name}`)
    const { stop } = await startAttack({
      kind: 'clients',
      url: stack.console!.url,
      clients: GUESSERS,
      pauseMs: 0,
      requests: Array.from({ length: GUESSERS }, (_, n) => ({
        path: '/api/v2/session',
        secret: null,
        address: addressOf(n),
        body: JSON.stringify({ email: `guessed-${n}@example.test`, password: 'a guess' }),
      })),
    })
    await wait(options.roundMs)
    const slowest = await slowestSignIn(stack, email)
    rows.push([name, ms(slowest), formatStatuses(await stop())])
    targets.push({
      what: `slowest sign-in on a new device during guesses from ${name}`,
      wanted: WITHIN_MS,
      found: slowest,
      better: 'less',
      say: ms,
    })
  }
  return `${await describeRun(new Date())}

${table([`${GUESSERS} connections guess from`, 'slowest sign-in', 'guesses'], rows)}

${formatTargets(targets)}
`
}

async function userWithPassword({ console }: ServiceStack, fixture: Fixture): Promise<string> {
  const { owner } = await fixture.callableTenant()
  const { secret } = await fixture.token(owner)
  const answer = await fetch(`${console!.url}/api/v2/me/password`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ password: PASSWORD }),
  })
  if (answer.status !== 204) throw new Error(`Setting the password got ${answer.status} ${await answer.text()}.`)
  return `${owner}@example.test`
}

/** @throws Error if a sign-in is refused */
async function slowestSignIn({ console }: ServiceStack, email: string): Promise<number> {
  let slowestMs = 0
  for (let n = 0; n < SIGN_INS; n++) {
    const startMs = performance.now()
    const answer = await fetch(`${console!.url}/api/v2/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': OWNER },
      body: JSON.stringify({ email, password: PASSWORD }),
    })
    if (answer.status !== 201) throw new Error(`The user got ${answer.status} ${await answer.text()}.`)
    await answer.arrayBuffer()
    slowestMs = Math.max(slowestMs, performance.now() - startMs)
  }
  return slowestMs
}
