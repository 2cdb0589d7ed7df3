import { expect, test } from 'vitest'
import {
  errorOfExecution,
  errorOfNode,
  executionCancelled,
  executionDetailShape,
  executionShape,
  progressQuery,
} from './execution.ts'
import { cancelledDetailExample, cancelledExample } from './execution-examples.ts'

test('the example of a cancelled execution fits the shape of real responses', () => {
  expect(executionShape.parse(cancelledExample)).toEqual(cancelledExample)
  expect(executionDetailShape.parse(cancelledDetailExample)).toEqual(cancelledDetailExample)
  const begun = { startedBy: 'invoke', chargedMicro: 0 } as const
  const { body } = executionCancelled('user')
  expect(errorOfExecution(body, { ...begun, id: cancelledExample.id, ended: true })).toEqual(cancelledExample.error)
  expect(errorOfNode(body, begun)).toEqual(cancelledExample.nodes[2].error)
})

test('progress starts at the first line unless a later one is named', () => {
  expect(progressQuery.parse({})).toEqual({ after: -1 })
  expect(progressQuery.parse({ after: '3' })).toEqual({ after: 3 })
})
