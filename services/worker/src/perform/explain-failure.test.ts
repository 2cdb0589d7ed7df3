import { errorOfNode } from '@gateway/api/execution'
import type { RefusalBody } from '@gateway/api/refusal'
import { createLogger } from '@gateway/service-kit/process/logger'
import { ProviderFailure, type FailureFacts } from '@gateway/providers/provider-failure'
import { expect, test } from 'vitest'
import { LeaseLost, WorkCancelled } from '../work.ts'
import { explainFailure } from './explain-failure.ts'

const log = createLogger({ service: 'worker', level: 'error', to: { write() {} } })
const lease = { execution: 'exe_1', node: 'ask', lease: 'lea_1', instance: 'ins_1' }

function errorOf(unsayable?: FailureFacts['unsayable']): RefusalBody {
  const failure = new ProviderFailure({
    kind: 'refused',
    provider: 'simulated',
    detail: 'x',
    providerStatus: 400,
    unsayable,
  })
  const result = explainFailure({ log }, failure, { lease } as never)
  if (result.kind !== 'failed') throw new Error(`it is ${result.kind}`)
  return JSON.parse(result.error) as RefusalBody
}

test('names params that the model does not accept and what it accepts instead [invalid_request]', () => {
  expect(errorOf({ field: 'temperature', problem: 'is above 1', instead: 'send 1 or less' })).toMatchObject({
    code: 'invalid_request',
    param: 'temperature',
    message: 'The model does not take the params of this node: temperature is above 1.',
    resolution: 'Correct temperature in the params of the node: send 1 or less. Or use another model in it.',
  })
})

test('names the ports of the node instead of message fields, which its author did not write [invalid_request]', () => {
  const unsayable = { field: 'messages.0.content.1.image_url', problem: 'is an address', instead: 'send the image' }
  for (const error of [errorOf(), errorOf(unsayable)]) {
    expect(error).toMatchObject({ code: 'invalid_request', param: null })
    expect(error.resolution).toContain('the ports of the node')
    expect(JSON.stringify(error)).not.toMatch(/messages|charged/)
  }
})

test('says that a node was stopped because its execution was failing, and where to look [node_failed]', () => {
  const result = explainFailure({ log }, new WorkCancelled('execution-ending'), { lease } as never)
  if (result.kind !== 'failed') throw new Error(`it is ${result.kind}`)
  const error = errorOfNode(JSON.parse(result.error) as RefusalBody, { startedBy: 'user', chargedMicro: 0 })
  expect(error).toMatchObject({
    code: 'node_failed',
    message: 'Node ask was stopped, because the execution was failing. This node was not charged.',
    resolution: 'See the error of the execution. Then run it again. The new run is charged.',
  })
})

test('gives a node back if its lease was lost or its work cancelled', () => {
  for (const lost of [new LeaseLost('fenced'), new LeaseLost('instance-unknown'), new WorkCancelled('stopping')])
    expect(explainFailure({ log }, lost, { lease } as never)).toEqual({ kind: 'given-back' })
})
