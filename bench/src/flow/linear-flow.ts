import type { Graph } from '@gateway/contracts/graph'
import { openFixture } from '@gateway/testbed/fixture'

export interface FlowTenant {
  sandbox: string
  secret: string
  /** Jobs that a worker runs for one execution: every node but `input`, which has nothing to run. */
  jobs: number
}

/** A project with one free flow of `nodes` nodes in a line, `input` and `output` included. */
export async function buildFlowTenant(adminUrl: string, nodes: number): Promise<FlowTenant> {
  const fixture = await openFixture(adminUrl)
  try {
    const tenant = await fixture.tenant()
    const project = await fixture.project(tenant)
    const { id } = await fixture.sandbox(project, linearFlow(nodes), { activate: true })
    const { secret } = await fixture.key({ project, by: tenant.owner })
    return { sandbox: id, secret, jobs: nodes - 1 }
  } finally {
    await fixture.close()
  }
}

function linearFlow(count: number): Graph {
  const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
  const steps = Array.from({ length: count - 2 }, (_, n) => `step${n}`)
  const line = ['in', ...steps, 'out']
  return {
    input: text,
    output: text,
    nodes: [
      { id: 'in', kind: 'input' },
      ...steps.map((id, n) => ({ id, kind: 'template', template: `{{ text }} ${n}` })),
      { id: 'out', kind: 'output' },
    ],
    edges: line.slice(1).map((id, n) => ({ from: `${line[n]}.text`, to: `${id}.text` })),
  }
}
