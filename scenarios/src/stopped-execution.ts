import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import type { Stack } from './stack.ts'

export interface StoppedCall {
  sandbox: string
  secret: string
  input: object
  idempotencyKey: string
  /** Milliseconds from admission to the stop; null to let it finish. */
  stopAfterMs: number | null
}

const AGAIN_MS = 50

/** Invokes a sandbox product, stops the execution at the given time, and returns the final record that its follower receives. */
export async function runAndStop(stack: Pick<Stack, 'gateways'>, call: StoppedCall): Promise<ExecutionRecord> {
  let [record, stopping]: [ExecutionRecord | null, Promise<void> | null] = [null, null]
  while (record === null) {
    for await (const line of linesOf(stack, call)) {
      if (line.kind === 'admitted' && call.stopAfterMs !== null)
        stopping ??= wait(call.stopAfterMs).then(() => untilStopped(stack, call, line.executionId))
      if (line.kind === 'complete') record = line.execution
    }
    if (record === null) await wait(AGAIN_MS)
  }
  await stopping
  return record
}

/** Progress lines of the execution under this idempotency key; they end early if a service is down. */
async function* linesOf(
  { gateways }: Pick<Stack, 'gateways'>,
  { sandbox, secret, input, idempotencyKey }: StoppedCall,
): AsyncGenerator<ProgressLine> {
  const answer = await fetch(`${gateways[0]!.url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      accept: 'application/x-ndjson',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ input }),
  })
  if (answer.status !== 200) {
    const refusal = await answer.text()
    if (answer.status < 500 && answer.status !== 409) throw new Error(`${answer.status} ${refusal}`)
    return
  }
  let rest = ''
  for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split('\n')
    rest = lines.pop()!
    for (const line of lines) yield JSON.parse(line) as ProgressLine
  }
}

/** Stops an execution through the gateways in turn until one answers, then once again, which must change nothing. */
async function untilStopped(
  { gateways }: Pick<Stack, 'gateways'>,
  { sandbox, secret }: StoppedCall,
  execution: string,
): Promise<void> {
  for (let answered = 0, n = 0; answered < 2; n++) {
    const url = `${gateways[n % gateways.length]!.url}/v1/sandbox/${sandbox}/executions/${execution}/cancel`
    const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${secret}` } })
    const record = (await answer.json()) as ExecutionRecord
    if (answer.status === 200) answered++
    else if (answer.status < 500) throw new Error(`${answer.status} ${JSON.stringify(record)}`)
    else await wait(AGAIN_MS)
    if (answer.status === 200 && record.completedAt === null && record.error?.code !== 'execution_cancelled')
      throw new Error(`${execution} continues after it was stopped: ${JSON.stringify(record)}`)
  }
}
