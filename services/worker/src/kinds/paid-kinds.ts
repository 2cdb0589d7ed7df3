import type { PaidKind } from './paid-kind.ts'
import { prepareChat } from './product-chat.ts'
import { prepareAudio, prepareImage } from './product-media.ts'

/** Kinds of nodes that call a product. All others are free and computed by packages/flow. */
export const paidKinds: Readonly<Record<string, PaidKind>> = {
  'product.chat': { prepare: prepareChat, output: 'text' },
  'product.image': { prepare: prepareImage, output: 'image' },
  'product.audio': { prepare: prepareAudio, output: 'speech' },
}
