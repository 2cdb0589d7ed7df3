import type { ParameterValues } from '@gateway/api/console/products'
import type { Graph, GraphProblem } from '@gateway/api/graph'
import { chatFieldsOf } from '@gateway/flow/contract'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import { validateGraph, type ProductFacts } from '@gateway/flow/validate-graph'
import type { Transaction } from '../audit/record-change.ts'
import type { ProductRow } from '../catalogue/product-columns.ts'

/** Package built from a graph, as stored. */
export interface BuiltPackage {
  /** SHA-256 of `package`, in hex. */
  digest: string
  package: Uint8Array<ArrayBuffer>
  runnerVersion: string
  manifest: string[]
  paidNodes: number
  chatInput: string | null
  chatOutput: string | null
}

/**
 * Validates a graph against the products that its project can currently call. `built` is its package, or null if there
 * are problems.
 */
export async function checkGraph(
  tx: Transaction,
  project: string,
  graph: Graph,
): Promise<{ problems: GraphProblem[]; built: BuiltPackage | null }> {
  const problems = validateGraph(graph, await callableProducts(tx, project))
  return { problems, built: problems.length === 0 ? packageOf(graph) : null }
}

function packageOf(graph: Graph): BuiltPackage {
  const { package: flow, digest, text } = buildPackage(graph)
  const chat = chatFieldsOf(flow.input, flow.output)
  return {
    digest,
    package: new TextEncoder().encode(text),
    runnerVersion: flow.runnerVersion,
    manifest: flow.manifest,
    paidNodes: planOf(flow).paidNodes,
    chatInput: chat?.input ?? null,
    chatOutput: chat?.output ?? null,
  }
}

/** Omits products that are not assigned, whether or not they exist, so the result does not reveal the catalogue. */
async function callableProducts(tx: Transaction, project: string): Promise<Map<string, ProductFacts>> {
  const assigned = await tx.assignment.findMany({ where: { project }, select: { product: true } })
  const products = await tx.product.findMany({
    where: { id: { in: assigned.map(({ product }) => product) }, state: 'published' },
    select: {
      id: true,
      kind: true,
      supportedParameters: true,
      maxOutputTokens: true,
      contextLength: true,
      maxTokensPerImage: true,
      imageMaxBytes: true,
      imageMaxCount: true,
      maxOutputBytes: true,
      parameterValues: true,
    },
  })
  return new Map(products.map((product) => [product.id, factsOf(product)]))
}

type Row = Pick<
  ProductRow,
  | 'kind'
  | 'supportedParameters'
  | 'maxOutputTokens'
  | 'contextLength'
  | 'maxTokensPerImage'
  | 'imageMaxBytes'
  | 'imageMaxCount'
  | 'maxOutputBytes'
  | 'parameterValues'
>

function factsOf({ maxTokensPerImage, imageMaxBytes, imageMaxCount, ...row }: Row): ProductFacts {
  return {
    kind: row.kind as ProductFacts['kind'],
    assigned: true,
    supportedParameters: row.supportedParameters,
    maxOutputTokens: row.maxOutputTokens,
    takesImages: maxTokensPerImage !== null,
    contextLength: row.contextLength,
    ...(maxTokensPerImage !== null && {
      imageInput: { maxBytes: imageMaxBytes, maxCount: imageMaxCount, maxTokens: maxTokensPerImage },
    }),
    maxOutputBytes: row.maxOutputBytes,
    parameterValues: row.parameterValues as ParameterValues,
  }
}
