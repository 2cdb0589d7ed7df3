import { tracesOfTheProvider } from '@gateway/simulated-provider/provider-traces'

/** Every byte of an answer: status, headers and body. */
export async function everyByte(answer: Response): Promise<string> {
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  return `${answer.status}\n${headers}\n\n${await answer.text()}`
}

/** What of a provider, or of the way to it, shows in a text; `words` are own ones, such as its name and address. */
export function tracesIn(text: string, words: readonly string[]): string[] {
  const lower = text.toLowerCase()
  return [...tracesOfTheProvider, 'undici', 'econn', 'x-powered-by', 'wholesale', ...words].filter((trace) =>
    lower.includes(trace.toLowerCase()),
  )
}
