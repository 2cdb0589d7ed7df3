import { failure, Unreachable } from './failures.ts'

/**
 * While it has nothing to send, the service sends a space every 15 seconds: four missed spaces mean a lost connection.
 */
const SILENCE_MS = 60_000
/** Characters. Far above any line or JSON of the service. */
const LONGEST = 2 ** 26

/**
 * Reads the text of a response.
 * @param silenceMs longest time without bytes
 * @throws Unreachable if it falls silent or does not end
 */
export async function textOf(answer: Response, silenceMs = SILENCE_MS): Promise<string> {
  let text = ''
  for await (const part of partsOf(answer, silenceMs)) {
    text += part
    if (text.length > LONGEST) throw new Unreachable('The answer has no end.', { answer })
  }
  return text
}

/** Reads the JSON of a response; `undefined` if it has no body. */
export async function jsonOf(answer: Response): Promise<unknown> {
  const text = await textOf(answer)
  const type = answer.headers.get('content-type') ?? ''
  if (/^application\/json\b/.test(type)) return parsed(text)
  if (text === '') return undefined
  throw new Unreachable(`The answer is ${type || 'of no type'} in place of JSON.`, { answer })
}

/**
 * Yields the lines of a response as they arrive. Leaving the loop closes the connection.
 * @param silenceMs longest time without bytes
 * @param onKeepAlive called for each part that only keeps the connection open
 * @throws Unreachable if the response breaks off, falls silent or is not in lines of JSON; the signal's reason
 */
export async function* linesOf(
  answer: Response,
  signal: AbortSignal | undefined,
  { silenceMs = SILENCE_MS, onKeepAlive }: { silenceMs?: number; onKeepAlive?: () => void } = {},
): AsyncGenerator<unknown, void, undefined> {
  const type = answer.headers.get('content-type') ?? 'json'
  if (!/json\b/.test(type)) {
    void answer.body?.cancel().catch(() => {})
    throw new Unreachable(`The answer is ${type} in place of lines of JSON.`, { answer })
  }
  let rest = ''
  for await (const part of partsOf(answer, silenceMs, signal)) {
    if (/^ +$/.test(part)) onKeepAlive?.()
    const lines = part.split('\n')
    lines[0] = rest + lines[0]!
    rest = lines.pop()!
    // Spaces that keep the connection open may precede a line.
    for (const line of lines) if (line.trim() !== '') yield parsed(line, answer)
    if (rest.length > LONGEST) throw new Unreachable('A line of the answer has no end.', { answer })
  }
  if (rest.trim() !== '') yield parsed(rest)
}

/** Yields the text of a response as it arrives. */
async function* partsOf(answer: Response, silenceMs: number, signal?: AbortSignal): AsyncGenerator<string> {
  const reader = answer.body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  try {
    for (let done = false; !done;) {
      const part = await heard(reader.read(), silenceMs).catch((cause: unknown) =>
        Promise.reject(failure(cause, signal)),
      )
      done = part.done
      yield decoder.decode(part.value, { stream: !done })
    }
  } finally {
    void reader.cancel().catch(() => {}) // never settles on a silent connection
  }
}

async function heard<T>(part: Promise<T>, silenceMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unreachable('The answer fell silent.')), silenceMs)
  })
  try {
    return await Promise.race([part, silence])
  } finally {
    clearTimeout(timer)
  }
}

/** @param whole the response, if its text arrived in full: a retry would return the same */
function parsed(text: string, whole: Response | null = null): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Unreachable(whole ? 'The response is not JSON.' : 'The response was truncated.', { cause, answer: whole })
  }
}
