import type { Graph } from '@gateway/contracts/graph'
import { withFixture } from '../stack/with-fixture.ts'

export interface FlowTenant {
  sandbox: string
  secret: string
  /** Jobs that a worker runs for one execution: every node but `input`, which has nothing to run. */
  jobs: number
}

/** A project with one free flow of `nodes` nodes in a line, `input` and `output` included. */
export async function buildFlowTenant(adminUrl: string, nodes: number): Promise<FlowTenant> {
  return withFixture(adminUrl, async (fixture) => {
    const { project, key } = await fixture.callableTenant()
    const { id } = await fixture.sandbox(project, linearFlow(nodes))
    return { sandbox: id, secret: key.secret, jobs: nodes - 1 }
  })
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
