import type { GraphNode } from '@gateway/contracts/graph'
import type { NodeKind } from '../node-kind.ts'
import { chatParamProblems, unsupportedParams } from './chat-params.ts'
import { optional, productLook, required } from './product-field.ts'

/**
 * A paid call of a chat product: `prompt`, `system` and images in; `text` out, `json` where `params.response_format` asks for it, and
 * `tool_calls` where `params.tools` are given.
 */
export const productChat: NodeKind = {
  kind: 'product.chat',
  calls: 'chat',
  fields: ['product', 'params'],
  collects: ['image'],
  look(node) {
    const tools = toolsOf(node)
    const look = productLook(
      node,
      {
        prompt: required('string'),
        system: optional('string'),
        image: { type: 'image', required: false },
      },
      {
        text: 'string',
        ...(answersJson(node) && { json: 'object' }),
        ...(tools.given && { tool_calls: 'object' }),
      },
      chatParamProblems(node),
    )
    return tools.mayBeCalled ? { ...look, mustLead: ['tool_calls'] } : look
  },
  problemsWith(node, product, wired) {
    const problems = unsupportedParams(node, product)
    if (product.takesImages === false && wired.has('image'))
      problems.push({
        code: 'port_unsupported',
        port: 'image',
        message: `The product of node ${node.id} takes no images.`,
        resolution: 'Leave the port unwired, or call a product that takes images.',
      })
    return problems
  },
}

function answersJson(node: GraphNode): boolean {
  const params = node['params'] as { response_format?: { type?: unknown } } | null | undefined
  const type = params?.response_format?.type
  return type === 'json_object' || type === 'json_schema'
}

/** A model that is told to call none makes no calls that could be lost. */
function toolsOf(node: GraphNode): { given: boolean; mayBeCalled: boolean } {
  const { tools, tool_choice: choice } = (node['params'] ?? {}) as { tools?: unknown; tool_choice?: unknown }
  const given = Array.isArray(tools) && tools.length > 0
  return { given, mayBeCalled: given && choice !== 'none' }
}
