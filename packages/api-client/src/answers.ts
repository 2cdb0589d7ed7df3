import { failure, Unreachable } from './failures.ts'

/** Where nothing is reported, the service sends a space every quarter of a minute: who hears none of four has lost the connection. */
const SILENCE_MS = 60_000
/** Characters. No line and no JSON of the service comes near it. */
const LONGEST = 2 ** 26

/**
 * The text of an answer.
 * @param silenceMs for how long nothing may come
 * @throws Unreachable where it falls silent or has no end
 */
export async function textOf(answer: Response, silenceMs = SILENCE_MS): Promise<string> {
  let text = ''
  for await (const part of partsOf(answer, silenceMs)) {
    text += part
    if (text.length > LONGEST) throw new Unreachable('The answer has no end.', { answer })
  }
  return text
}

/** The JSON of an answer; `undefined` for one without a body. */
export async function jsonOf(answer: Response): Promise<unknown> {
  const text = await textOf(answer)
  const type = answer.headers.get('content-type') ?? ''
  if (/^application\/json\b/.test(type)) return parsed(text)
  if (text === '') return undefined
  throw new Unreachable(`The answer is ${type || 'of no type'} in place of JSON.`, { answer })
}

/**
 * The lines of an answer, as they come. Anyone who leaves the loop closes the connection.
 * @param silenceMs for how long nothing may come
 * @throws Unreachable where it breaks off, falls silent or is something else; the reason of the signal
 */
export async function* linesOf(
  answer: Response,
  signal: AbortSignal | undefined,
  silenceMs = SILENCE_MS,
): AsyncGenerator<unknown, void, undefined> {
  const type = answer.headers.get('content-type') ?? 'json'
  if (!/json\b/.test(type)) {
    void answer.body?.cancel().catch(() => {})
    throw new Unreachable(`The answer is ${type} in place of lines of JSON.`, { answer })
  }
  let rest = ''
  for await (const part of partsOf(answer, silenceMs, signal)) {
    const lines = part.split('\n')
    lines[0] = rest + lines[0]!
    rest = lines.pop()!
    // Before a line may be spaces, which keep the connection open.
    for (const line of lines) if (line.trim() !== '') yield parsed(line, answer)
    if (rest.length > LONGEST) throw new Unreachable('A line of the answer has no end.', { answer })
  }
  if (rest.trim() !== '') yield parsed(rest)
}

/** What is heard of an answer. */
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
    void reader.cancel().catch(() => {}) // of a silent connection it may never be over
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

/** @param whole the answer, where its text has come whole: another one would be no better */
function parsed(text: string, whole: Response | null = null): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Unreachable(whole ? 'The answer is not JSON.' : 'The answer broke off.', { cause, answer: whole })
  }
}
