import type { GraphNode } from '@gateway/contracts/graph'
import type { NodeKind } from '../node-kind.ts'
import { chatParamProblems, unsupportedParams } from './chat-params.ts'
import { optional, productLook, required } from './product-field.ts'

/** A paid call of a chat product: `prompt`, `system` and images in; `text` out, and `json` where `params.response_format` asks for it. */
export const productChat: NodeKind = {
  kind: 'product.chat',
  calls: 'chat',
  fields: ['product', 'params'],
  collects: ['image'],
  look: (node) =>
    productLook(
      node,
      {
        prompt: required('string'),
        system: optional('string'),
        image: { type: 'image', required: false },
      },
      answersJson(node) ? { text: 'string', json: 'object' } : { text: 'string' },
      chatParamProblems(node),
    ),
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
