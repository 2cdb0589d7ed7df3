import { mediaParameters } from '@gateway/api/console/fields'
import type { ParameterValues } from '@gateway/api/console/products'
import type { GraphNode } from '@gateway/api/graph'
import type { NodeKind, NodeProblem, ProductFacts } from '../node-kind.ts'
import { optional, productLook, required } from './shared-looks.ts'

type MediaKind = keyof typeof mediaParameters

/** Returns the problems of each param of an image or audio node (flows §2.3). */
function mediaParamProblems(node: GraphNode, kind: MediaKind): NodeProblem[] {
  const params: unknown = node['params'] ?? {}
  const names: readonly string[] = mediaParameters[kind]
  const invalid = (message: string, resolution: string): NodeProblem => ({
    code: 'params_invalid',
    message,
    resolution,
  })
  if (!isObject(params))
    return [
      invalid(
        `The params of node ${node.id} are not an object.`,
        `Write "params": { "${names[0]}": "…" }, for example.`,
      ),
    ]
  return Object.entries(params).flatMap(([name, value]) => {
    if (!names.includes(name))
      return invalid(
        `The params of node ${node.id} have ${name.slice(0, 64)}, which a product.${kind} node does not set.`,
        `Leave it out; params may have ${names.join(', ')}.`,
      )
    if (typeof value === 'string' && value !== '') return []
    return invalid(
      `The params of node ${node.id} do not hold: ${name} is not text.`,
      `Write ${name} as one of the values that the product lists, or leave it out.`,
    )
  })
}

/** Returns a problem for each param the product does not list. Invalid params are not reported again. */
function unlistedParams(node: GraphNode, { kind, parameterValues = {} }: ProductFacts): NodeProblem[] {
  const params: unknown = node['params'] ?? {}
  if (!isObject(params)) return []
  return Object.entries(params).flatMap(([name, value]): NodeProblem[] => {
    if (typeof value !== 'string' || value === '' || !isParameterOf(kind, name)) return []
    const listed: readonly string[] | undefined = parameterValues[name]
    if (listed?.includes(value)) return []
    return [
      {
        code: 'param_unsupported',
        message: `The product of node ${node.id} ${listed ? `does not take ${name} ${JSON.stringify(value.slice(0, 64))}` : `takes no ${name}`}.`,
        resolution: listed ? `Write one of ${listed.join(', ')}.` : `Leave ${name} out of params.`,
      },
    ]
  })
}

function isParameterOf(kind: ProductFacts['kind'], name: string): name is keyof ParameterValues {
  const names: readonly string[] = kind === 'image' || kind === 'audio' ? mediaParameters[kind] : []
  return names.includes(name)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Paid call of an audio product. In: `text`, and `voice` by port or by `params`. Out: `audio`. */
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

/** Paid call of an image product. In: `prompt`. Out: `image`, in the size and format of `params`. */
export const productImage: NodeKind = {
  kind: 'product.image',
  calls: 'image',
  fields: ['product', 'params'],
  look: (node) =>
    productLook(node, { prompt: required('string') }, { image: 'image' }, mediaParamProblems(node, 'image')),
  problemsWith: unlistedParams,
}
