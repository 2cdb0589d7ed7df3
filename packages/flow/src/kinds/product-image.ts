import type { NodeKind } from '../node-kind.ts'
import { productLook, required } from './product-field.ts'

/** A paid call of an image product: `prompt` in, `image` out. */
export const productImage: NodeKind = {
  kind: 'product.image',
  calls: 'image',
  fields: ['product'],
  look: (node) => productLook(node, { prompt: required('string') }, { image: 'image' }),
}
