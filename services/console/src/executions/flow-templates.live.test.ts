import { expect } from 'vitest'
import type { ContractSide } from '@gateway/api/graph'
import { fillTemplate, flowTemplates } from '@gateway/flow/flow-templates'
import { outcomeOf } from '../console.fixture.ts'
import { executionTest as test } from './executions.fixture.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\nand so on', 'latin1')

test.for(flowTemplates.map((template) => [template.id, template] as const))(
  'a flow from the template %s is saved without problems, activated and executed successfully',
  async ([, template], { flow, stack, fixture, console }) => {
    const image = await fixture.product({ kind: 'image', requestPico: 40_000_000n })
    const audio = await fixture.product({ kind: 'audio', requestPico: 15_000_000n })
    const seeing = await fixture.product({ maxTokensPerImage: 500 })
    for (const product of [image, audio, seeing]) await fixture.assign(stack.project, product)
    const products = Object.entries(template.slots).map(([name, { kind, needs }]) => {
      return [name, needs === 'images' ? seeing : { chat: flow.product, image, audio }[kind]]
    })
    const graph = fillTemplate(template, Object.fromEntries(products))
    const { body: made } = await stack.owner.post(`${stack.projectPath}/sandboxes`, { name: template.title })
    const path = `${stack.path}/sandboxes/${made.id}`
    const { body: saved } = await stack.owner.post(`${path}/revisions`, { graph })
    expect([saved.problems, saved.warnings]).toEqual([[], []])
    expect(outcomeOf(await stack.owner.post(`${path}/revisions/1/activate`))).toBe('200')
    const uploaded = await fetch(`${console.url}${stack.projectPath}/assets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stack.owner.token}`, 'Content-Type': 'image/png' },
      body: PNG,
    })
    const { id: asset } = (await uploaded.json()) as { id: string }
    const { body: execution } = await stack.owner.post(`${path}/execute`, { input: inputOf(graph.input, asset) })
    expect(execution).toMatchObject({ status: 'Succeeded', error: null })
    for (const field of graph.output.required ?? []) expect([field, execution.output[field]]).not.toContain(null)
    expect(execution.chargedMicro).toBeGreaterThan(0)
  },
)

function inputOf({ properties }: ContractSide, asset: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { format, title }]) => [name, format === 'image' ? { asset } : title]),
  )
}
