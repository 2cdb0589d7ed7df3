import type { ProviderHealth, ProviderRange } from '@gateway/api/console/provider-health'
import { Prisma } from '@gateway/database/client'
import { LATENCY_BUCKETS, latencyQuantile } from '@gateway/ledger-protocol/provider-report'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeOnPlatform } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { userOf } from '../sign-in/user.ts'
import { latestTests, readTests } from './provider-tests.ts'

// What providers answered, as gateways and workers reported it (rules §7.11). Reads slots of five minutes, so that its
// cost depends on the range and the number of deployments, and not on the number of calls.

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>

const SLOT_MS = 300_000
const HOUR_MS = 3_600_000
const ranges: Record<ProviderRange, { ms: number; stepMs: number }> = {
  hour: { ms: HOUR_MS, stepMs: SLOT_MS },
  day: { ms: 24 * HOUR_MS, stepMs: HOUR_MS },
  week: { ms: 7 * 24 * HOUR_MS, stepMs: 6 * HOUR_MS },
}
/** A process that has sent no report for this long is no longer shown; one is due every five seconds. */
const SILENT_MS = 90_000
const FAILURES = 10

/** GET /api/v2/providers */
export function listProviders(deps: Deps): Handler<'listProviders'> {
  return async (call, res) => {
    const reader = userOf(res)
    authorizeOnPlatform(reader, 'providers.read')
    const { range } = call.query()
    const { ms, stepMs } = ranges[range]
    const to = deps.now()
    const from = new Date(Math.floor((to.getTime() - ms) / SLOT_MS) * SLOT_MS)
    const [counted, steps, states, routes, tests] = await Promise.all([
      readCounts(deps, from),
      readSteps(deps, from, stepMs),
      readStates(deps),
      readRoutes(deps),
      readTests(deps),
    ])
    const names = [...new Set([...counted, ...states, ...routes].map(({ provider }) => provider))].toSorted()
    const failures = await readFailures(deps, names, from, reader.id)
    const of = <Row extends { provider: string }>(rows: Row[], name: string) =>
      rows.filter(({ provider }) => provider === name)
    const data = names.map((name): ProviderHealth => {
      const processes = of(states, name)
      const counts = of(counted, name)
      return {
        provider: name,
        kind: processes[0]?.kind ?? null,
        ...figuresOf(counts),
        processes: processes.map(processOf),
        deployments: deploymentsOf(counts, of(routes, name)),
        steps: of(steps, name).map(({ at, calls, failed, rejected }) => ({
          at: at.toISOString(),
          calls: Number(calls),
          failed: Number(failed),
          rejected: Number(rejected),
        })),
        tests: latestTests(tests, name, to),
        failures: of(failures, name).map(failureOf),
      }
    })
    res.json({ range, from: from.toISOString(), to: to.toISOString(), stepMs, data })
  }
}

interface Deployment {
  provider: string
  model: string
  product: string
}

interface Counts extends Deployment {
  answered: bigint
  cut: bigint
  failed: bigint
  rejected: bigint
  fallbacks: bigint
  latency: bigint[]
}

function readCounts({ prisma }: Pick<Deps, 'prisma'>, from: Date): Promise<Counts[]> {
  const buckets = Array.from({ length: LATENCY_BUCKETS }, (_, n) => `sum(latency[${n + 1}])`).join(', ')
  return prisma.$queryRaw<Counts[]>`
    SELECT provider, model, product, sum(answered)::bigint AS answered, sum(cut)::bigint AS cut,
           sum(failed)::bigint AS failed, sum(rejected)::bigint AS rejected, sum(fallbacks)::bigint AS fallbacks,
           ARRAY[${Prisma.raw(buckets)}]::bigint[] AS latency
      FROM money.provider_slots WHERE slot >= ${from}
     GROUP BY provider, model, product ORDER BY provider, product, model`
}

interface Step {
  provider: string
  at: Date
  calls: bigint
  failed: bigint
  rejected: bigint
}

function readSteps({ prisma }: Pick<Deps, 'prisma'>, from: Date, stepMs: number): Promise<Step[]> {
  return prisma.$queryRaw<Step[]>`
    SELECT provider, date_bin(${stepMs}::int * interval '1 millisecond', slot, 'epoch') AS at,
           sum(answered + failed + rejected)::bigint AS calls, sum(failed + cut)::bigint AS failed,
           sum(rejected)::bigint AS rejected
      FROM money.provider_slots WHERE slot >= ${from}
     GROUP BY 1, 2 ORDER BY 1, 2`
}

interface State {
  provider: string
  kind: string
  service: string
  startedAt: Date
  credential: string
  credentialAt: Date | null
  circuit: string
  circuitAt: Date
}

function readStates({ prisma }: Pick<Deps, 'prisma'>): Promise<State[]> {
  return prisma.$queryRaw<State[]>`
    SELECT s.provider, s.kind, p.service, p.started_at AS "startedAt", s.credential, s.credential_at AS "credentialAt",
           s.circuit, s.circuit_at AS "circuitAt"
      FROM money.provider_states s JOIN money.provider_senders p ON p.sender = s.sender
     WHERE p.at > clock_timestamp() - ${SILENT_MS}::int * interval '1 millisecond'
     ORDER BY s.provider, p.service, p.started_at, s.sender`
}

/** Where products send their calls. */
function readRoutes({ prisma }: Pick<Deps, 'prisma'>): Promise<Deployment[]> {
  return prisma.$queryRaw<Deployment[]>`
    SELECT r.provider, r.model, p.id AS product
      FROM control.products p CROSS JOIN jsonb_to_recordset(p.providers) AS r (provider text, model text)
     WHERE p.state <> 'draft'
     ORDER BY p.id, r.provider, r.model`
}

interface Failure extends Deployment {
  at: Date
  kind: string
  status: number | null
  code: string | null
  tenant: string | null
  project: string
  invocation: string
}

/** The last failures of each provider. Their calls are named only if the reader may see them (`usage.read`). */
function readFailures(
  { prisma }: Pick<Deps, 'prisma'>,
  providers: string[],
  from: Date,
  reader: string,
): Promise<Failure[]> {
  return prisma.$queryRaw<Failure[]>`
    SELECT f.provider, f.at, f.model, f.product, f.kind, f.status, f.code, f.project, f.invocation, r.tenant
      FROM unnest(${providers}::text[]) AS n (provider)
     CROSS JOIN LATERAL (
       SELECT * FROM money.provider_failures f
        WHERE f.provider = n.provider AND f.at >= ${from} ORDER BY f.at DESC, f.id DESC LIMIT ${FAILURES}) f
      LEFT JOIN LATERAL (
       SELECT p.tenant FROM control.projects p
         JOIN control.project_grants g ON g.project = p.id AND g.user_id = ${reader}
         JOIN control.memberships m ON m.tenant = p.tenant AND m.user_id = ${reader} AND m.suspended_at IS NULL
        WHERE p.id = f.project) r ON true
     ORDER BY f.provider, f.at DESC, f.id DESC`
}

const sum = (rows: Counts[], of: (row: Counts) => bigint) => Number(rows.reduce((total, row) => total + of(row), 0n))

function figuresOf(rows: Counts[]) {
  const latency = Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => sum(rows, (row) => row.latency[bucket]!))
  return {
    calls: sum(rows, ({ answered, failed, rejected }) => answered + failed + rejected),
    failed: sum(rows, ({ failed, cut }) => failed + cut),
    rejected: sum(rows, ({ rejected }) => rejected),
    fallbacks: sum(rows, ({ fallbacks }) => fallbacks),
    p50Ms: latencyQuantile(latency, 0.5),
    p95Ms: latencyQuantile(latency, 0.95),
  }
}

/** Those with calls, and those that a product names. */
function deploymentsOf(counts: Counts[], routes: Deployment[]): ProviderHealth['deployments'] {
  const nameOf = ({ model, product }: Deployment) => JSON.stringify([model, product])
  const routed = new Set(routes.map(nameOf))
  const called = new Set(counts.map(nameOf))
  const idle = routes.filter(
    (route, n) => !called.has(nameOf(route)) && routes.findIndex((each) => nameOf(each) === nameOf(route)) === n,
  )
  return [
    ...counts.map((row) => ({
      model: row.model,
      product: row.product,
      isRouted: routed.has(nameOf(row)),
      ...figuresOf([row]),
    })),
    ...idle.map(({ model, product }) => ({ model, product, isRouted: true, ...figuresOf([]) })),
  ]
}

function processOf({ service, startedAt, credential, credentialAt, circuit, circuitAt }: State) {
  return {
    service,
    startedAt: startedAt.toISOString(),
    credential,
    credentialChangedAt: credentialAt?.toISOString() ?? null,
    circuit,
    circuitSince: circuitAt.toISOString(),
  } as ProviderHealth['processes'][number]
}

function failureOf({ at, model, product, kind, status, code, tenant, project, invocation }: Failure) {
  return {
    at: at.toISOString(),
    model,
    product,
    kind,
    status,
    code,
    call: tenant === null ? null : { tenant, project, invocation },
  }
}
