import type { ParameterValues } from '@gateway/contracts/console/products'
import type { Graph, GraphProblem } from '@gateway/contracts/graph'
import { refuse } from '@gateway/contracts/refusal'
import { chatFieldsOf } from '@gateway/flow/contract'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import { validateGraph, type ProductFacts } from '@gateway/flow/validate-graph'
import type { Transaction } from '../audit/record-change.ts'
import type { ProductRow } from '../catalogue/product-columns.ts'

/** The columns of a revision that follow from its graph; all empty where the graph has problems. */
export interface PackageColumns {
  digest: string | null
  package: Uint8Array<ArrayBuffer> | null
  manifest: string[]
  paidNodes: number
  chatInput: string | null
  chatOutput: string | null
}

/** Checks a whole graph against the products that its project can call now, and builds its package where all is well. */
export async function checkGraph(
  tx: Transaction,
  project: string,
  graph: Graph,
): Promise<{ problems: GraphProblem[]; columns: PackageColumns }> {
  const problems = validateGraph(graph, await callableProducts(tx, project))
  return { problems, columns: problems.length === 0 ? packageColumns(graph) : noPackage }
}

/**
 * @throws Refusal `product_not_assigned` where nothing else is wrong, `graph_invalid` with every problem
 */
export function requireNoProblems(problems: GraphProblem[], graph: Graph): void {
  if (problems.length === 0) return
  const details = { problems }
  if (problems.every(({ code }) => code === 'product_not_assigned')) {
    const node = graph.nodes.find(({ id }) => id === problems[0]?.node)
    throw refuse('product_not_assigned', { product: String(node?.['product']) }, { details })
  }
  throw refuse('graph_invalid', { problems }, { param: 'graph', details })
}

const noPackage: PackageColumns = {
  digest: null,
  package: null,
  manifest: [],
  paidNodes: 0,
  chatInput: null,
  chatOutput: null,
}

function packageColumns(graph: Graph): PackageColumns {
  const { package: flow, digest, text } = buildPackage(graph)
  const chat = chatFieldsOf(flow.input, flow.output)
  return {
    digest,
    package: new TextEncoder().encode(text),
    manifest: flow.manifest,
    paidNodes: planOf(flow).paidNodes,
    chatInput: chat?.input ?? null,
    chatOutput: chat?.output ?? null,
  }
}

/** What isn't assigned is left out, whether or not there is such a product: nobody learns the catalogue from it. */
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
