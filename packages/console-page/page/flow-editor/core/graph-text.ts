import { graph as graphShape, type Graph } from '@gateway/api/graph'

export type ReadGraph = { graph: Graph } | { fault: string }

/** As it is shown, kept as a file and sent. */
export function graphText(graph: Graph): string {
  return `${JSON.stringify(graph, null, 2)}\n`
}

/** The graph in a text, or one sentence that says why there is none. */
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
