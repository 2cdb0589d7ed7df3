/** State of the list of flows in the URL. */
export interface FlowListView {
  /** Show only flows with this tag. */
  tag?: string
  /** Open the gallery for a new flow. */
  create?: true
}

export function flowListView({ tag, create }: Record<string, unknown>): FlowListView {
  return { ...(typeof tag === 'string' && tag !== '' && { tag }), ...(create === true && { create }) }
}

/** Execution shown on the canvas, from the URL. */
export interface FlowView {
  execution?: string
}

export function flowView({ execution }: Record<string, unknown>): FlowView {
  return typeof execution === 'string' ? { execution } : {}
}
