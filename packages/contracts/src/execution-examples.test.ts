import { expect, test } from 'vitest'
import { executionCancelled, errorOfExecution, errorOfNode } from './execution-error.ts'
import { executionDetailExample, executionExample, progressExample } from './execution-examples.ts'
import { executionDetailShape, executionShape, progressQuery, progressShape } from './execution.ts'

test('the examples of the description are as real answers are', () => {
  expect(executionShape.parse(executionExample)).toEqual(executionExample)
  expect(executionDetailShape.parse(executionDetailExample)).toEqual(executionDetailExample)
  expect(progressShape.parse(progressExample)).toEqual(progressExample)
  const begun = { begunBy: 'invoke', chargedMicro: 42 } as const
  const { body } = executionCancelled('person')
  expect(errorOfExecution(body, { ...begun, id: executionExample.id, ended: true })).toEqual(executionExample.error)
  expect(errorOfNode(body, { ...begun, chargedMicro: 0 })).toEqual(executionExample.nodes[2].error)
})

test('progress is read from the first line on, unless a line is named', () => {
  expect(progressQuery.parse({})).toEqual({ after: -1 })
  expect(progressQuery.parse({ after: '3' })).toEqual({ after: 3 })
})
