import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { refusals } from '../refusals.ts'
import { flowRoutes } from './flow-routes.ts'
import { gatewayRoutes } from './gateway-routes.ts'

const rules = readFileSync(path.join(import.meta.dirname, '../../../../docs/rules.md'), 'utf8')
const section = (number: string) => rules.split(/^### /m).find((text) => text.startsWith(`${number} `))!
const codesIn = (text: string) =>
  [...text.matchAll(/`([a-z]+(?:_[a-z]+)*)`/g)].map(([, code]) => code!).filter((code) => code in refusals)

test('reading a model refuses only with model_not_found, as for a model that the key does not list', () => {
  expect(gatewayRoutes.readModel.refusals).toEqual(['model_not_found'])
})

test.for(['completeChat', 'createResponse', 'createMessage'] as const)(
  '%s lists the refusals of an execution, which is what a call of a sandbox product starts',
  (name) => {
    const ofExecutions = [...codesIn(section('2.9')), 'ceiling_reached', 'no_worker']
    expect(ofExecutions.length).toBeGreaterThan(7)
    expect(gatewayRoutes[name].refusals).toEqual(expect.arrayContaining(ofExecutions))
    expect(gatewayRoutes.createEmbeddings.refusals).not.toContain('node_failed')
  },
)

test('MCP lists its answers to a body that is not JSON and to an unsupported Accept header', () => {
  expect(flowRoutes.serveMcp.refusals).toContain('invalid_json')
  expect(Object.keys(flowRoutes.serveMcp.answers)).toContain('406')
})
