import type { GraphNode } from '@gateway/api/graph'
import { branch } from './kinds/branch.ts'
import { constant } from './kinds/constant.ts'
import { expression } from './kinds/expression.ts'
import { input, output } from './kinds/output.ts'
import { productAudio, productImage } from './kinds/product-media.ts'
import { productChat } from './kinds/product-chat.ts'
import { template } from './kinds/template.ts'
import type { NodeKind } from './node-kind.ts'

export type { InPort, NodeKind, PortType, ProductFacts } from './node-kind.ts'

/** All node kinds. A new kind takes one file and one line here (docs/adding-a-node-kind.md). */
export const nodeKinds: readonly NodeKind[] = [
  input,
  output,
  template,
  expression,
  branch,
  constant,
  productChat,
  productImage,
  productAudio,
]

const byName: ReadonlyMap<string, NodeKind> = new Map(nodeKinds.map((kind) => [kind.kind, kind]))

/** Returns the kind with this name, or null. */
export function nodeKind(name: string): NodeKind | null {
  return byName.get(name) ?? null
}

/** Returns the ID of the product that a node calls; null for a free node. */
export function productOf(node: GraphNode): string | null {
  const product: unknown = nodeKind(node.kind)?.calls ? node['product'] : null
  return typeof product === 'string' ? product : null
}
