import type { GraphProblem } from '@gateway/api/graph'

/** Codes of the problems of a graph (flows §2.7). */
export type ProblemCode =
  | 'contract_invalid'
  | 'too_many_fields'
  | 'too_many_nodes'
  | 'too_many_edges'
  | 'too_many_paid_nodes'
  | 'node_id_invalid'
  | 'node_id_duplicate'
  | 'kind_unknown'
  | 'input_count'
  | 'output_count'
  | 'field_unknown'
  | 'field_invalid'
  | 'expression_invalid'
  | 'template_invalid'
  | 'value_too_large'
  | 'params_invalid'
  | 'param_unsupported'
  | 'product_not_assigned'
  | 'product_kind'
  | 'port_unsupported'
  | 'image_too_large'
  | 'edge_invalid'
  | 'edge_duplicate'
  | 'node_unknown'
  | 'port_unknown'
  | 'type_mismatch'
  | 'wiring_missing'
  | 'port_taken'
  | 'optional_to_required'
  | 'cycle'

/** @param at node and port of the problem; neither for a problem of the whole graph */
export function problem(
  code: ProblemCode,
  at: { node?: string | null; port?: string | null },
  message: string,
  resolution: string,
): GraphProblem {
  return { code, node: at.node ?? null, port: at.port ?? null, message, resolution }
}
