/** The arguments of a tool call as an object. Those that the output cap cut short can't be one any more. */
export function argumentsOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}
