/** Parses the arguments of a tool call as an object, which fails if the output cap cut them short. */
export function argumentsOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}
