import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { ProviderControl } from './control.ts'
import { faultRules } from './fault-rule.ts'
import { readBody } from './read-body.ts'

const filter = z.object({
  model: z.string().optional(),
  prompt: z.string().optional(),
  outcome: z.enum(['open', 'finished', 'cut', 'aborted']).optional(),
})
const wait = filter.extend({
  count: z.coerce.number().int().min(1),
  timeoutMs: z.coerce.number().int().min(1).max(600_000).default(30_000),
})
const release = z.object({ count: z.int().min(1).optional() })

/**
 * Everything under `/control`. Responds in JSON: 200, 400 `{ error }` for an invalid rule or parameter, 404, and 408
 * after a timed-out wait.
 */
export async function answerControl(
  control: ProviderControl,
  url: URL,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const [status, answer] = await act(control, url, req).catch(wrong)
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

async function act(control: ProviderControl, url: URL, req: IncomingMessage): Promise<[number, object]> {
  const parameters = Object.fromEntries(url.searchParams)
  switch (`${req.method} ${url.pathname.slice('/control'.length)}`) {
    case 'POST /faults': {
      const rules = faultRules.parse(await readJson(req))
      await control.setFaults(rules)
      return [200, { rules: rules.length }]
    }
    case 'DELETE /faults':
      await control.clearFaults()
      return [200, { rules: 0 }]
    case 'POST /release':
      return [200, { released: await control.release(release.parse(await readJson(req)).count) }]
    case 'GET /calls':
      return [200, { data: await control.calls(filter.parse(parameters)) }]
    case 'GET /calls/count':
      return [200, { count: await control.countCalls(filter.parse(parameters)) }]
    case 'GET /calls/wait': {
      const { count, timeoutMs, ...which } = wait.parse(parameters)
      return control.waitForCalls(count, which, timeoutMs).then(
        (arrived) => [200, { count: arrived }],
        (error: Error) => [408, { error: error.message }],
      )
    }
    case 'DELETE /calls':
      await control.clearCalls()
      return [200, { count: 0 }]
    default:
      return [404, { error: `there is no ${req.method} ${url.pathname}` }]
  }
}

async function readJson(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req)
  return body.length === 0 ? {} : JSON.parse(body.toString())
}

function wrong(error: unknown): [number, object] {
  if (error instanceof z.ZodError) return [400, { error: z.prettifyError(error) }]
  return [400, { error: String(error) }]
}
