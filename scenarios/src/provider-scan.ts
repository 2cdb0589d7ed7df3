import { tracesOfTheProvider } from '@gateway/simulated-provider/provider-traces'

/** Status, headers and body of a response as text. */
export async function everyByte(answer: Response): Promise<string> {
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  return `${answer.status}\n${headers}\n\n${await answer.text()}`
}

/** Traces of a provider or of the connection to it in a text; `words` adds test-specific ones, such as its name and host. */
export function tracesIn(text: string, words: readonly string[]): string[] {
  const lower = text.toLowerCase()
  return [...tracesOfTheProvider, 'undici', 'econn', 'x-powered-by', 'wholesale', ...words].filter((trace) =>
    lower.includes(trace.toLowerCase()),
  )
}
