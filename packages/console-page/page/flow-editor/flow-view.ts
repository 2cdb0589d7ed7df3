/** Execution shown on the canvas, from the URL. */
export interface FlowView {
  execution?: string
}

export function flowView({ execution }: Record<string, unknown>): FlowView {
  return typeof execution === 'string' ? { execution } : {}
}
