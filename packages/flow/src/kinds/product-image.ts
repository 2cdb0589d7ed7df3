import type { NodeKind } from '../node-kind.ts'
import { mediaParamProblems, unlistedParams } from './media-params.ts'
import { productLook, required } from './product-field.ts'

/** A paid call of an image product: `prompt` in, `image` out, of the size and format that `params` say. */
export const productImage: NodeKind = {
  kind: 'product.image',
  calls: 'image',
  fields: ['product', 'params'],
  look: (node) =>
    productLook(node, { prompt: required('string') }, { image: 'image' }, mediaParamProblems(node, 'image')),
  problemsWith: unlistedParams,
}
