import { randomBytes } from 'node:crypto'
import { openDatabase } from '@gateway/database/client'
import { checkBooks, sayFinding } from '@gateway/ledger/check-books'
import { startConstellation, type ConstellationOptions } from '@gateway/testbed/constellation'
import { openWorld, type WorldKey, type WorldProject } from '@gateway/testbed/world'

// The whole service on real parts, and a world in it: what a scenario begins with.

export type House = Awaited<ReturnType<typeof openHouse>>

export interface Shop {
  project: WorldProject
  key: WorldKey
  owner: string
  /** One micro-USD per prompt token and per completion token. */
  model: string
}

interface HouseOptions extends ConstellationOptions {
  adminUrl: string
}

export async function openHouse(options: HouseOptions) {
  const constellation = await startConstellation(options)
  const world = await openWorld(options.adminUrl)
  const reads = await openDatabase({ url: options.ledgerUrl, poolSize: 2 })

  async function shop(funds: bigint, key: Partial<Parameters<typeof world.key>[0]> = {}): Promise<Shop> {
    const owners = await world.tenant()
    const project = await world.project(owners, funds)
    const model = await world.product({
      id: `acme/${randomBytes(5).toString('hex')}`,
      promptPico: 1_000_000n,
      completionPico: 1_000_000n,
      perMessage: 8,
    })
    await world.assign(project.id, model)
    return { project, model, owner: owners.owner, key: await world.key({ project, by: owners.owner, ...key }) }
  }

  return {
    ...constellation,
    world,
    shop,
    /** What the books say of a project; micro-USD. */
    async wallet(project: string) {
      const wallet = await reads.prisma.wallet.findUniqueOrThrow({ where: { project } })
      const { funded, reserved, settled } = wallet
      return { funded, reserved, settled, available: funded - reserved - settled }
    },
    /** What `ledger check` finds, from the first journal entry on. */
    async findings(projects?: string[]): Promise<string[]> {
      return (await checkBooks(reads, { whole: true, ...(projects && { projects }) })).findings.map(sayFinding)
    },
    openHolds: (project: string) => reads.prisma.reservation.count({ where: { project } }),
    invocations: (project: string) =>
      reads.prisma.invocation.findMany({ where: { project }, orderBy: { closedAt: 'asc' } }),
    /** Resolves once nothing of the project is held any more. */
    async untilNothingIsHeld(project: string, withinMs: number): Promise<void> {
      const until = performance.now() + withinMs
      while ((await reads.prisma.reservation.count({ where: { project } })) > 0) {
        if (performance.now() > until) throw new Error(`still held after ${withinMs} ms`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    close: async () => {
      await reads.close()
      await world.close()
      await constellation.stop()
    },
  }
}

/** One plain chat call, by hand: what no client library does for us. */
export function chat(
  house: Pick<House, 'gateways'>,
  { key, model }: Pick<Shop, 'key' | 'model'>,
  {
    body = {},
    headers = {},
    gateway = 0,
    signal,
  }: { body?: object; headers?: Record<string, string>; gateway?: number; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${house.gateways[gateway % house.gateways.length]!.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'Say something short.' }],
      max_tokens: 50,
      ...body,
    }),
    ...(signal && { signal }),
  })
}
