import type { ProgressLine, RefusedLine } from '@gateway/contracts/execution'
import { ApiRefusal } from '../../api/api-refusal.ts'
import type { Beginning } from './beginnings.ts'

/** How often a progress that was cut off is taken up again behind its last line. */
const TRIES = 5

/**
 * Begins an execution and hands on each line of its progress, once and in order, also over lost connections.
 * @throws ApiRefusal
 */
export async function followExecution(
  { tenant, project }: Record<'tenant' | 'project', string>,
  { path: beginning, body, headers }: Beginning,
  take: (line: ProgressLine) => void,
): Promise<void> {
  const home = `/api/v2/tenants/${encodeURIComponent(tenant)}`
  const accept = { Accept: 'application/x-ndjson' }
  let executionId: string | null = null
  let last: ProgressLine | null = null
  const onLine = (line: ProgressLine | RefusedLine) => {
    if (line.kind === 'refused') throw new ApiRefusal(403, line.error)
    if (line.kind === 'admitted') executionId = line.executionId
    last = line
    take(line)
  }
  const begin = fetch(beginning, {
    method: 'POST',
    headers: { ...accept, ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  await readLines(await begin, onLine)
  for (let tries = 0; tries < TRIES && executionId !== null && !isComplete(last); tries++) {
    const seq: number = (last as ProgressLine | null)?.seq ?? -1
    const path = `${home}/projects/${encodeURIComponent(project)}/executions/${encodeURIComponent(executionId)}`
    await readLines(await fetch(`${path}/progress?after=${seq}`, { headers: accept }), onLine)
  }
}

function isComplete(line: ProgressLine | null): boolean {
  return line?.kind === 'complete'
}

/** Ends where the answer ends, or is cut off. */
async function readLines(answer: Response, take: (line: ProgressLine | RefusedLine) => void): Promise<void> {
  if (!answer.ok || !answer.body) {
    const { error } = (await answer.json()) as { error: ConstructorParameters<typeof ApiRefusal>[1] }
    throw new ApiRefusal(answer.status, error, answer.headers.get('X-Request-Id'))
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
    const lines = `${rest}${value ?? ''}`.split('\n')
    rest = done ? '' : lines.pop()!
    for (const line of lines) if (line.trim() !== '') take(JSON.parse(line) as ProgressLine)
    if (done) return
  }
}
