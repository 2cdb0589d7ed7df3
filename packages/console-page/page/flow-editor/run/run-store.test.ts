import { expect, test } from 'vitest'
import type { ExecutionRecord, NodeRecord } from '@gateway/api/execution'
import { addNode, connect, disconnect } from '../core/node-commands.ts'
import { edgeKey } from '../core/edges.ts'
import { newGraph } from '@gateway/flow/new-graph'
import { begun, applyLine } from './run-store.ts'

const template = addNode(newGraph, { kind: 'template', position: { x: 0, y: 0 } }).graph
const joined = connect(connect(template, { from: 'in.text', to: 'template.text' }), {
  from: 'template.text',
  to: 'out.text',
})
const graph = disconnect(joined, new Set([edgeKey({ from: 'in.text', to: 'out.text' })]))
const node = (id: string, chargedMicro = 0): NodeRecord => ({
  id,
  kind: 'template',
  status: 'Succeeded',
  output: {},
  error: null,
  durationMs: 3,
  remoteMs: null,
  callId: null,
  chargedMicro,
  takenOver: false,
})
const statuses = ({ nodes }: ReturnType<typeof begun>) =>
  Object.fromEntries([...nodes].map(([id, n]) => [id, n.status]))

test('a node starts running once all its sources have ended', () => {
  const start = begun(graph)
  expect(statuses(start)).toEqual({ in: 'Running', out: 'Pending', template: 'Pending' })
  const first = applyLine(start, { kind: 'node', seq: 1, node: node('in') }, graph)
  expect(statuses(first)).toEqual({ in: 'Succeeded', out: 'Pending', template: 'Running' })
  const second = applyLine(first, { kind: 'node', seq: 2, node: node('template', 42) }, graph)
  expect(statuses(second)).toEqual({ in: 'Succeeded', out: 'Running', template: 'Succeeded' })
  expect(second.nodes.get('template')).toMatchObject({ chargedMicro: 42, durationMs: 3 })
})

test('the last progress line provides the execution record', () => {
  const execution = { id: 'exe_1', nodes: [node('in'), node('template', 7)] } as Partial<ExecutionRecord>
  const end = applyLine(begun(graph), { kind: 'complete', seq: 3, execution: execution as ExecutionRecord }, graph)
  expect(end).toMatchObject({ isRunning: false, executionId: 'exe_1', ended: execution })
  expect(end.nodes.get('template')).toMatchObject({ chargedMicro: 7 })
})
