import type { NodeKind } from '../node-kind.ts'
import { optional, productLook, required } from './product-field.ts'

/** A paid call of a voice product: `text` and, if wanted, `voice` in, `audio` out. */
export const productAudio: NodeKind = {
  kind: 'product.audio',
  calls: 'audio',
  fields: ['product'],
  look: (node) => productLook(node, { text: required('string'), voice: optional('string') }, { audio: 'audio' }),
}
