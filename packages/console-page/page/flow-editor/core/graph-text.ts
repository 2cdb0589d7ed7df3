import { graph as graphShape, type Graph } from '@gateway/api/graph'

export type ReadGraph = { graph: Graph } | { fault: string }

/** Text of a graph, as shown, exported and sent. */
export function graphText(graph: Graph): string {
  return `${JSON.stringify(graph, null, 2)}\n`
}

/** Parses a graph, or returns one sentence that explains the error. */
export function readGraphText(text: string): ReadGraph {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return { fault: `Invalid JSON: ${(error as Error).message}.` }
  }
  const read = graphShape.safeParse(json)
  if (read.success) return { graph: read.data }
  const [issue] = read.error.issues
  const at = issue?.path.join('.') ?? ''
  return { fault: `Not a valid graph: ${at === '' ? '' : `${at}: `}${issue?.message ?? 'unexpected structure'}.` }
}
