import { percentile } from '../load/figures.ts'
import { openLoop } from '../soak/open-loop.ts'
import type { BenchDeps } from '../bench.ts'
import type { Target } from '../report/targets.ts'
import { ms, table } from '../report/table.ts'
import { formatStatuses, startAttack } from './attacker.ts'
import type { Edge } from './edge.ts'

const PER_SECOND = 20
const CALLS_PER_SECOND = 50
const HEALTH_P99_MS = 50
const TIMES_QUIET = 2

const many = (count: number, of: (n: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join()
const chat = (more: string) => `{"model":"bench/edge","messages":[{"role":"user","content":"hi"}],${more}}`
const message = '{"role":"user","content":""}'

const BODIES: Record<string, string> = {
  '60,000 unknown fields': chat(many(60_000, (n) => `"k${n}":1`)),
  '9,900 unknown fields': chat(many(9_900, (n) => `"k${n}":1`)),
  '9,900 unknown fields in a message': `{"model":"bench/edge","messages":[{"role":"user","content":"hi",${many(9_900, (n) => `"k${n}":1`)}}]}`,
  '30,000 messages': `{"model":"bench/edge","messages":[${many(30_000, () => message)}]}`,
  '4,900 messages': `{"model":"bench/edge","messages":[${many(4_900, () => message)}]}`,
  '400,000 numbers': chat(`"metadata":[${many(400_000, () => '1')}]`),
  '49,000 numbers': chat(`"metadata":[${many(49_000, () => '1')}]`),
  '10,000 levels': chat(`"metadata":${'['.repeat(10_000)}${']'.repeat(10_000)}`),
  'a number of 500,000 digits': chat(`"temperature":0.${'1'.repeat(500_000)}`),
  'a response_format of 100 levels': chat(
    `"response_format":{"type":"json_schema","x":${'{"a":'.repeat(95)}1${'}'.repeat(95)}}`,
  ),
  'a response_format of 9,900 fields': chat(
    `"response_format":{"type":"json_object",${many(9_900, (n) => `"k${n}":1`)}}`,
  ),
  'a key of 500,000 characters': chat(`"${'k'.repeat(500_000)}":1`),
  'a logit_bias of 9,900 strings': chat(`"logit_bias":{${many(9_900, (n) => `"${n}":"x"`)}}`),
  '100,000 escapes': chat(`"user":"${'\\"'.repeat(100_000)}"`),
}

/** Bodies made to be slow, with forged and real keys, and what other callers notice. */
export async function slowBodies({ stack, tenant, chat: call, pools }: Edge, deps: BenchDeps) {
  const {
    log,
    options: { roundMs: lastsMs },
  } = deps
  const now = () => performance.now()
  const health = async () => {
    const { statusCode, body } = await pools[0]!.request({ method: 'GET', path: '/health/live' })
    await body.dump()
    return { status: statusCode, retryAfter: true }
  }
  const others = async () => ({ status: await call(tenant.key.secret), retryAfter: true })
  const requests = Object.values(BODIES).flatMap((body) =>
    [tenant.key.secret, null].map((secret) => ({ path: '/v1/chat/completions', secret, body })),
  )
  const { url } = stack.gateways[0]!
  const measure = async () => {
    const [checks, calls] = await Promise.all([
      openLoop({ perSecond: 100, lastsMs, call: health, now }),
      openLoop({ perSecond: CALLS_PER_SECOND, lastsMs, call: others, now }),
    ])
    return { health: percentile(checks.latenciesMs, 99), calls: percentile(calls.latenciesMs, 99) }
  }
  const attacked = async () => {
    const { stop } = await startAttack({ kind: 'rate', url, requests, perSecond: PER_SECOND, lastsMs })
    const measured = await measure()
    return { ...measured, statuses: formatStatuses(await stop()) }
  }
  log('Calls on a quiet gateway')
  await measure()
  const quiet = await measure()
  log(`Calls during ${PER_SECOND} slow bodies a second`)
  await attacked()
  const busy = await attacked()
  return {
    said: `
${table(
  ['slow bodies, 20 a second, forged and real keys by turns', 'quiet p99', 'attacked p99'],
  [
    ['/health/live', ms(quiet.health), ms(busy.health)],
    [`chat calls, ${CALLS_PER_SECOND} a second`, ms(quiet.calls), ms(busy.calls)],
  ],
)}

The bodies (${Object.keys(BODIES).join('; ')}) were answered with ${busy.statuses}.`,
    targets: [
      {
        what: 'p99 of /health/live during slow bodies',
        wanted: HEALTH_P99_MS,
        found: busy.health,
        better: 'less',
        say: ms,
      },
      {
        what: "other callers' p99 to that of quiet",
        wanted: TIMES_QUIET,
        found: busy.calls / quiet.calls,
        better: 'less',
        say: (value: number) => `${value.toFixed(2)}×`,
      },
    ] satisfies Target[],
  }
}
