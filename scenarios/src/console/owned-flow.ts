import type { Graph } from '@gateway/api/graph'
import type { Stack } from '../stack.ts'
import { consoleOwner } from './users.ts'

/** A flow with a model call, the URL of its editor, and a reader of its saved graphs, newest first. */
export async function ownedFlow(stack: Stack) {
  const owner = await consoleOwner(stack)
  const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
  const { id } = await stack.fixture.sandbox(owner.project, {
    input: text,
    output: text,
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'ask', kind: 'template', template: 'Write about {{ text }}.' },
      { id: 'draft', kind: 'product.chat', product: owner.model },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      { from: 'in.text', to: 'ask.text' },
      { from: 'ask.text', to: 'draft.prompt' },
      { from: 'draft.text', to: 'out.text' },
    ],
  })
  const saved = async () => {
    const revisions = `/api/v2/tenants/${owner.project.tenant}/sandboxes/${id}/revisions`
    const { body } = await owner.caller.ask('GET', revisions)
    return (body.data as { graph: Graph }[]).map(({ graph }) => graph)
  }
  return { owner, id, address: `${owner.home}/flows/${id}`, saved }
}
