/** State of the list of flows in the URL. */
export interface FlowListView {
  /** Show only flows with this tag. */
  tag?: string
}

export function flowListView({ tag }: Record<string, unknown>): FlowListView {
  return typeof tag === 'string' && tag !== '' ? { tag } : {}
}
