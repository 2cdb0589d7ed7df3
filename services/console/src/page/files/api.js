// The console's API, as the page uses it.

/** What was not done, and what would clear it, in the service's own words. */
export class Refused extends Error {
  constructor(status, { code, message, resolution, param = null, details = null }, requestId = null) {
    super(message)
    Object.assign(this, { status, code, resolution, param, details, requestId })
  }

  get isSignedOut() {
    return this.code === 'session_missing'
  }
}

/** A path with every id in it encoded: at`/api/v2/tenants/${id}`. */
export function at(texts, ...ids) {
  return texts.reduce((path, text, n) => path + encodeURIComponent(ids[n - 1]) + text)
}

/** Asks, and answers what was answered; null for nothing. Tells the page if nobody is signed in any more. @throws Refused */
export async function ask(method, path, body) {
  const answer = await send(method, path, body, 'application/json')
  if (answer.status === 204) return null
  const json = await answer.json().catch(() => null)
  if (answer.ok && json !== null) return json
  throw refusedBy(answer, json)
}

/** Asks for lines of JSON, and tells each as it comes. @throws Refused also where they end before the last one */
export async function askLines(method, path, body, tell) {
  const answer = await send(method, path, body, 'application/x-ndjson')
  if (!answer.ok) throw refusedBy(answer, await answer.json().catch(() => null))
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  let last = null
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ done: true }))
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      last = JSON.parse(line)
      tell(last)
    }
  }
  if (last?.kind !== 'complete')
    throw new Refused(0, {
      code: 'not_reached',
      message: 'The connection was lost. The execution goes on without it.',
      resolution: 'Load the page again, and open the execution among the newest ones.',
    })
}

async function send(method, path, body, accept) {
  try {
    return await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: { Accept: accept, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  } catch {
    throw new Refused(0, {
      code: 'not_reached',
      message: 'The console could not be reached.',
      resolution: 'Check the connection and try again.',
    })
  }
}

function refusedBy(answer, json) {
  const unclear = { code: 'unclear', message: 'The answer could not be read.', resolution: 'Try again in a moment.' }
  const refused = new Refused(answer.status, json?.error ?? unclear, answer.headers.get('X-Request-Id'))
  if (refused.isSignedOut) dispatchEvent(new Event('signedout'))
  return refused
}

export const get = (path) => ask('GET', path)

/** A list to its end. */
export async function getAll(path) {
  const rows = []
  let cursor = null
  do {
    const page = await getPage(path, cursor, 500)
    rows.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}

/** A page of a list. */
export function getPage(path, cursor, limit) {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor !== null && { cursor }) })
  return get(`${path}${path.includes('?') ? '&' : '?'}${query}`)
}
