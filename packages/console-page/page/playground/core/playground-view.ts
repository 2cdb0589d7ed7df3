/** State of the playground in the URL. */
export interface PlaygroundView {
  model?: string
  /** Second model, to compare with. */
  compareWith?: string
  /** Flow to try instead of models. */
  flow?: string
}

export function playgroundView({ model, compareWith, flow }: Record<string, unknown>): PlaygroundView {
  return {
    ...(typeof model === 'string' && { model }),
    ...(typeof compareWith === 'string' && { compareWith }),
    ...(typeof flow === 'string' && { flow }),
  }
}
