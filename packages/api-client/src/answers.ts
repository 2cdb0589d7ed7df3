import { failure, Unreachable } from './failures.ts'

/** The JSON of an answer; `undefined` for one without a body. */
export async function jsonOf(answer: Response): Promise<unknown> {
  const text = await answer.text()
  const type = answer.headers.get('content-type') ?? ''
  if (/^application\/json\b/.test(type)) return parsed(text)
  if (text === '') return undefined
  throw new Unreachable(`The answer is ${type || 'of no type'} in place of JSON.`, { answer })
}

/** The lines of an answer, as they come. Whoever leaves the loop closes the connection. */
export async function* linesOf(
  answer: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void, undefined> {
  const reader = answer.body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (let done = false; !done;) {
      const part = await reader.read().catch((cause: unknown) => Promise.reject(failure(cause, signal)))
      done = part.done
      const lines = (rest + decoder.decode(part.value, { stream: !done })).split('\n')
      rest = done ? '' : lines.pop()!
      // Before a line may be spaces, which keep the connection open.
      for (const line of lines) if (line.trim() !== '') yield parsed(line)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Unreachable('The answer broke off.', { cause })
  }
}
