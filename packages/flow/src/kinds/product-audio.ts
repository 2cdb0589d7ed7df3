import type { NodeKind } from '../node-kind.ts'
import { mediaParamProblems, unlistedParams } from './media-params.ts'
import { optional, productLook, required } from './product-field.ts'

/** A paid call of a voice product: `text` in and, by the port or by `params`, `voice`; `audio` out. */
export const productAudio: NodeKind = {
  kind: 'product.audio',
  calls: 'audio',
  fields: ['product', 'params'],
  look: (node) =>
    productLook(
      node,
      { text: required('string'), voice: optional('string') },
      { audio: 'audio' },
      mediaParamProblems(node, 'audio'),
    ),
  problemsWith(node, product, wired) {
    const problems = unlistedParams(node, product)
    const { voice } = (node['params'] ?? {}) as { voice?: unknown }
    if (voice !== undefined && wired.has('voice'))
      problems.push({
        code: 'params_invalid',
        port: 'voice',
        message: `The voice of node ${node.id} is said twice, by its port and by its params.`,
        resolution: 'Leave the port unwired, or voice out of params.',
      })
    return problems
  },
}
