import type { ExecutionRecord } from '@gateway/api/execution'
import type { Stack } from '../stack.ts'
import { flows } from './flows.ts'

export type McpTenant = Awaited<ReturnType<typeof openMcpTenant>>

/** A project with $1 and flows exposed over MCP, and another tenant, which may not call them. */
export async function openMcpTenant(stack: Stack) {
  const { fixture } = stack
  const tenant = await stack.tenant(1_000_000n)
  const otherTenant = await stack.tenant(1_000_000n)
  const canvas = await fixture.publishProduct({ kind: 'image', requestPico: 40_000_000n })
  const voice = await fixture.publishProduct({ kind: 'audio', requestPico: 15_000_000n })
  await fixture.assign(tenant.project.id, canvas, voice)
  const make = async (
    graph: Parameters<typeof fixture.sandbox>[1],
    options: Parameters<typeof fixture.sandbox>[2] = {},
  ) => (await fixture.sandbox(tenant.project, graph, { mcpEnabled: true, ...options })).id

  return {
    ...tenant,
    otherTenant,
    canvas,
    make,
    suspend: (sandbox: string) => fixture.run('UPDATE control.sandboxes SET suspended = true WHERE id = $1', [sandbox]),
    /** A new flow with two paid calls. */
    chain: () => make(flows.chain(tenant.model)),
    sandboxes: {
      echo: await make(flows.echo(), { name: 'Echo', description: 'Says what it receives.' }),
      picture: await make(flows.picture(canvas)),
      speech: await make(flows.speech(voice)),
      mirror: await make(flows.mirror()),
      disabled: await make(flows.echo(), { mcpEnabled: false }),
    },
    /** MCP URL of a flow, through one of the gateways. */
    at: (sandbox: string, gateway = 0) => new URL(`/v1/sandbox/${sandbox}/mcp`, stack.gateways[gateway]!.url),
    authorization: `Bearer ${tenant.key.secret}`,
    settled: async () => Number((await stack.wallet(tenant.project.id)).settled),
    /** Calls a flow over invoke. */
    async invoke(sandbox: string, input: object, idempotencyKey: string): Promise<ExecutionRecord> {
      const answer = await fetch(new URL(`/v1/sandbox/${sandbox}/invoke`, stack.gateways[0]!.url), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tenant.key.secret}`,
          accept: 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: JSON.stringify({ input }),
      })
      return (await answer.json()) as ExecutionRecord
    },
    async executions(sandbox: string): Promise<number> {
      const { rows } = await fixture.run('SELECT count(*) AS executions FROM money.executions WHERE sandbox = $1', [
        sandbox,
      ])
      return Number((rows as { executions: string }[])[0]!.executions)
    },
  }
}
