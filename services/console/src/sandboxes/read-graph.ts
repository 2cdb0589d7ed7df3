import { z } from 'zod'
import { newRevisionBody } from '@gateway/contracts/console/sandboxes'
import { graph as graphShape, type Graph } from '@gateway/contracts/graph'
import { refuse } from '@gateway/contracts/refusal'
import { check } from '../receive/check.ts'
import { requireModestJson } from '../receive/modest-json.ts'

export interface AskedRevision {
  graph: Graph
  draft: boolean
  /** The latest revision that the author knows of; null: whatever it is. */
  baseRevision: number | null
}

/**
 * A revision to be saved. What is no graph at all is refused here; what is wrong with a graph is the checker's to say. The
 * graph is kept as it was sent, not as a parser of shapes copies it, so that what it holds beside its shape stays in it.
 * @throws Refusal `invalid_request`
 */
export function readRevision(body: Record<string, unknown>): AskedRevision {
  const { draft, baseRevision } = check(newRevisionBody, body)
  const { graph } = body
  requireModestJson(graph, 'graph')
  check(z.object({ graph: graphShape }), { graph })
  return { graph: graph as Graph, draft, baseRevision }
}

/** How a graph is kept and shown: compact JSON, the same for the same graph. */
export function graphBytes(graph: Graph): Uint8Array<ArrayBuffer> {
  // `stringify` writes U+0000 and lone surrogates as escapes, so the text is UTF-8 whatever the graph holds.
  return new TextEncoder().encode(JSON.stringify(graph))
}

/** @throws Refusal `not_found` for what is the number of no revision */
export function revisionNumberOf(text: unknown): number {
  if (typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw refuse('not_found', {})
}
