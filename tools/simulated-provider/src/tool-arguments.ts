/** The arguments of a tool call as an object. Those that the output cap cut short can't be one anymore. */
export function argumentsOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}
