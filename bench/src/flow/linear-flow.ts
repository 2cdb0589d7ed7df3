import type { Graph } from '@gateway/api/graph'
import { PLENTY, withFixture } from '../stack/with-fixture.ts'

export interface FlowTenant {
  sandbox: string
  secret: string
  /** Jobs that workers run for one execution: every node except `input`, which has no work. */
  jobs: number
}

/** A project with one free flow of `nodes` nodes in a line, including `input` and `output`. */
export async function buildFlowTenant(adminUrl: string, nodes: number): Promise<FlowTenant> {
  return withFixture(adminUrl, async (fixture) => {
    const { project, key } = await fixture.callableTenant({ funds: PLENTY }) // an empty wallet starts nothing
    const { id } = await fixture.sandbox(project, linearFlow(nodes))
    return { sandbox: id, secret: key.secret, jobs: nodes - 1 }
  })
}

/** A project with one flow of this many paid calls in sequence. */
export async function buildPaidTenant(adminUrl: string, calls: number): Promise<FlowTenant> {
  return withFixture(adminUrl, async (fixture) => {
    const product = 'bench/paid-flow'
    const { project, key } = await fixture.callableTenant({ funds: PLENTY, product: { id: product } })
    const { id } = await fixture.sandbox(project, paidFlow(product, calls))
    return { sandbox: id, secret: key.secret, jobs: calls + 1 }
  })
}

const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }

function paidFlow(product: string, count: number): Graph {
  const calls = Array.from({ length: count }, (_, n) => `call${n}`)
  const edges = calls.map((id, n) => ({ from: n === 0 ? 'in.text' : `call${n - 1}.text`, to: `${id}.prompt` }))
  return {
    input: text,
    output: text,
    nodes: [
      { id: 'in', kind: 'input' },
      ...calls.map((id) => ({ id, kind: 'product.chat', product, params: { max_tokens: 20 } })),
      { id: 'out', kind: 'output' },
    ],
    edges: [...edges, { from: `call${count - 1}.text`, to: 'out.text' }],
  }
}

function linearFlow(count: number): Graph {
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
