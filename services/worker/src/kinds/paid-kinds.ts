import type { PaidKind } from './paid-kind.ts'
import { prepareChat } from './product-chat.ts'
import { prepareAudio, prepareImage } from './product-media.ts'

/** The kinds of node that call a product. All others are free: what they do is computed by packages/flow alone. */
export const paidKinds: Readonly<Record<string, PaidKind>> = {
  'product.chat': { prepare: prepareChat, output: 'text' },
  'product.image': { prepare: prepareImage, output: 'image' },
  'product.audio': { prepare: prepareAudio, output: 'speech' },
}
