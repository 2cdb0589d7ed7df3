/** What the playground asks, as the address has it. */
export interface PlaygroundView {
  model?: string
  /** A second model, which is asked the same. */
  beside?: string
  /** A flow, in place of models. */
  flow?: string
}

export function playgroundView({ model, beside, flow }: Record<string, unknown>): PlaygroundView {
  return {
    ...(typeof model === 'string' && { model }),
    ...(typeof beside === 'string' && { beside }),
    ...(typeof flow === 'string' && { flow }),
  }
}
