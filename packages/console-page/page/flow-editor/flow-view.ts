/** What is shown of a flow, as the address has it: an execution on the canvas. */
export interface FlowView {
  execution?: string
}

export function flowView({ execution }: Record<string, unknown>): FlowView {
  return typeof execution === 'string' ? { execution } : {}
}
