import type { ServerResponse } from 'node:http'
import type { Execution } from './start-run.ts'

/** From here on every answer says which run it is about, and whether it was begun before (decisions.md, 1, 4). */
export function nameExecution(
  res: ServerResponse,
  { execution, replayed }: Pick<Execution, 'execution' | 'replayed'>,
): void {
  res.setHeader('X-Service-Invocation', execution)
  if (replayed) res.setHeader('Idempotent-Replayed', 'true')
}
