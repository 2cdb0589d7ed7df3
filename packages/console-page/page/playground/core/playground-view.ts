/** State of the playground in the URL. */
export interface PlaygroundView {
  model?: string
  /** Second model, to compare with. */
  compare?: string
  /** Flow to try instead of models. */
  flow?: string
}

export function playgroundView({ model, compare, flow }: Record<string, unknown>): PlaygroundView {
  return {
    ...(typeof model === 'string' && { model }),
    ...(typeof compare === 'string' && { compare }),
    ...(typeof flow === 'string' && { flow }),
  }
}
