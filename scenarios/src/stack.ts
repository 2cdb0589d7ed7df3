import { openDatabase } from '@gateway/database/client'
import { checkBooks, formatFinding } from '@gateway/ledger/check-books'
import {
  openServices,
  startServices,
  type OpenServices,
  type ServiceStack,
  type ServiceStackOptions,
} from '@gateway/testbed/service-stack'
import { openFixture, type CallableTenant, type KeyOptions } from '@gateway/testbed/fixture'

// The whole service on real servers, with a fixture: the starting point of a scenario.

/** Services in the test process or in separate processes. */
export type Stack = Awaited<ReturnType<typeof connectStack<OpenServices>>>
/** Services in separate processes, which can be killed, paused or restarted. */
export type ProcessStack = Awaited<ReturnType<typeof connectStack<ServiceStack>>>

export type TenantFixture = CallableTenant

const MICRO_A_TOKEN = { promptPico: 1_000_000n, completionPico: 1_000_000n }

interface StackOptions extends ServiceStackOptions {
  adminUrl: string
}

/** Shorter waits than in production: a killed gateway counts as dead after 3 s instead of 15, and release grace is a tenth. */
const SHORT_WAITS: NonNullable<ServiceStackOptions['environment']> = {
  gateway: () => ({ HEARTBEAT_MS: '1000' }),
  ledger: () => ({ RELEASE_GRACE_MS: '3000' }),
}

/** Starts the services in separate processes, for tests that kill many of them. */
export const openStack = async (options: StackOptions) => stackOf(await startServices(withShortWaits(options)), options)

/** Opens the services in this process, except those of `processes`, for a file that needs its own settings. */
export const openLiveStack = async (options: StackOptions) =>
  stackOf(await openServices(withShortWaits(options)), options)

function withShortWaits({ environment = {}, ...options }: StackOptions): StackOptions {
  return {
    ...options,
    environment: {
      ...environment,
      gateway: (n) => ({ ...SHORT_WAITS.gateway?.(n), ...environment.gateway?.(n) }),
      ledger: (n) => ({ ...SHORT_WAITS.ledger?.(n), ...environment.ledger?.(n) }),
    },
  }
}

async function stackOf<Services extends OpenServices>(services: Services, options: StackOptions) {
  const stack = await connectStack(services, options)
  const close = async () => {
    await stack.close()
    await services.stop()
  }
  return { ...stack, close }
}

/** Adds a fixture and access to the books to started services. `close` leaves the services running. */
export async function connectStack<Services extends OpenServices>(
  services: Services,
  urls: Pick<StackOptions, 'adminUrl' | 'ledgerUrl'>,
) {
  const fixture = await openFixture(urls.adminUrl)
  const reads = await openDatabase({ url: urls.ledgerUrl, poolSize: 2 })

  /** A funded tenant with a product at one micro-USD per prompt or completion token. */
  const tenant = (funds: bigint, key: Partial<KeyOptions> = {}): Promise<TenantFixture> =>
    fixture.callableTenant({ funds, product: MICRO_A_TOKEN, key })

  return {
    ...services,
    fixture,
    tenant,
    /** The wallet of a project in the books; micro-USD. */
    async wallet(project: string) {
      const wallet = await reads.prisma.wallet.findUniqueOrThrow({ where: { project } })
      const { funded, reserved, settled } = wallet
      return { funded, reserved, settled, available: funded - reserved - settled }
    },
    /** Findings of `ledger check` over the whole journal. */
    async findings(projects?: string[]): Promise<string[]> {
      return (await checkBooks(reads, { whole: true, ...(projects && { projects }) })).findings.map(formatFinding)
    },
    openReservations: (project: string) => reads.prisma.reservation.count({ where: { project } }),
    invocations: (project: string) =>
      reads.prisma.attempt.findMany({ where: { project }, orderBy: { closedAt: 'asc' } }),
    /** Resolves once the project has no open reservation. */
    async untilNothingIsReserved(project: string, withinMs: number): Promise<void> {
      const until = performance.now() + withinMs
      while ((await reads.prisma.reservation.count({ where: { project } })) > 0) {
        if (performance.now() > until) throw new Error(`still reserved after ${withinMs} ms`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    close: async () => {
      await reads.close()
      await fixture.close()
    },
  }
}

/** Makes one plain chat call with fetch. */
export function chat(
  stack: Pick<Stack, 'gateways'>,
  caller: Pick<TenantFixture, 'key' | 'model'>,
  { body = {}, ...how }: { body?: object } & HowToCall = {},
): Promise<Response> {
  const messages = [{ role: 'user', content: 'Say something short.' }]
  return callModel(stack, caller, { path: '/v1/chat/completions', body: { messages, max_tokens: 50, ...body }, ...how })
}

interface HowToCall {
  headers?: Record<string, string>
  gateway?: number
  signal?: AbortSignal
}

/** Calls a model on any wire. */
export function callModel(
  stack: Pick<Stack, 'gateways'>,
  { key, model }: Pick<TenantFixture, 'key' | 'model'>,
  { path, body, headers = {}, gateway = 0, signal }: { path: string; body: object } & HowToCall,
): Promise<Response> {
  return fetch(`${stack.gateways[gateway % stack.gateways.length]!.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, ...body }),
    ...(signal && { signal }),
  })
}
