import type { ExecutionRecord } from '@gateway/contracts/execution'
import type { House } from '../house.ts'
import { flows } from './flows.ts'

export type Studio = Awaited<ReturnType<typeof openStudio>>

/** A project with 1 USD and flows that may be called over MCP; and another project, which may not call them. */
export async function openStudio(house: House) {
  const { world } = house
  const shop = await house.shop(1_000_000n)
  const stranger = await house.shop(1_000_000n)
  const canvas = await world.product({ kind: 'image', requestPico: 40_000_000n })
  const voice = await world.product({ kind: 'audio', requestPico: 15_000_000n })
  await world.assign(shop.project.id, canvas, voice)
  const make = async (graph: Parameters<typeof world.sandbox>[1], options: Parameters<typeof world.sandbox>[2] = {}) =>
    (await world.sandbox(shop.project, graph, { mcpEnabled: true, ...options })).id

  return {
    ...shop,
    stranger,
    canvas,
    make,
    suspend: (sandbox: string) => world.run('UPDATE control.sandboxes SET suspended = true WHERE id = $1', [sandbox]),
    /** A flow of two paid calls, whose runs can be counted. */
    chain: () => make(flows.chain(shop.model)),
    sandboxes: {
      echo: await make(flows.echo(), { name: 'Echo', description: 'Says what it is told.' }),
      picture: await make(flows.picture(canvas)),
      speech: await make(flows.speech(voice)),
      mirror: await make(flows.mirror()),
      disabled: await make(flows.echo(), { mcpEnabled: false }),
    },
    /** Where a flow is called, through one of the gateways. */
    at: (sandbox: string, gateway = 0) => new URL(`/v1/sandbox/${sandbox}/mcp`, house.gateways[gateway]!.url),
    authorization: `Bearer ${shop.key.secret}`,
    settled: async () => Number((await house.wallet(shop.project.id)).settled),
    /** The same flow over HTTP. */
    async invoke(sandbox: string, input: object, idempotencyKey: string): Promise<ExecutionRecord> {
      const answer = await fetch(new URL(`/v1/sandbox/${sandbox}/invoke`, house.gateways[0]!.url), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${shop.key.secret}`,
          accept: 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: JSON.stringify({ input }),
      })
      return (await answer.json()) as ExecutionRecord
    },
    async runs(sandbox: string): Promise<number> {
      const { rows } = await world.run('SELECT count(*) AS runs FROM money.executions WHERE sandbox = $1', [sandbox])
      return Number((rows as { runs: string }[])[0]!.runs)
    },
  }
}
