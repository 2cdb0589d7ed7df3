import { expect, test } from 'vitest'
import type { ContractSide, GraphNode } from '@gateway/api/graph'
import { errorOfExecution } from '@gateway/api/execution'
import { flowLimits } from '@gateway/api/limits'
import { resolveInputs, runFreeNode } from './run-free-node.ts'

const run = (node: Omit<GraphNode, 'id'>, inputs: Record<string, unknown> = {}, contract: ContractSide | null = null) =>
  runFreeNode({ id: 'n', ...node } as GraphNode, inputs, contract)
const succeeded = (output: Record<string, unknown>) => ({ kind: 'succeeded', output, ports: Object.keys(output) })
const failed = (code: string, more: object = {}) => ({ kind: 'failed', error: { code, ...more } })
const side = (properties: ContractSide['properties'], required: string[] = []): ContractSide => ({
  type: 'object',
  properties,
  required,
})

// spec: 2.3/s14
test('template, expression, constant and branch nodes return values by port', () => {
  expect(run({ kind: 'template', template: 'a {{ x }}' }, { x: 1 })).toEqual(succeeded({ text: 'a 1' }))
  expect(run({ kind: 'expression', expression: 'x * 2' }, { x: 1 })).toEqual(succeeded({ value: 2 }))
  expect(run({ kind: 'constant', value: { a: 1 } })).toEqual(succeeded({ value: { a: 1 } }))
  expect(run({ kind: 'branch', condition: 'x > y' }, { x: 2, y: 1 })).toEqual(succeeded({ 'true.x': 2, 'true.y': 1 }))
  expect(run({ kind: 'branch', condition: 'x == null' }, {})).toEqual(succeeded({ 'true.x': null }))
})

test('an expression that yields no value of its type fails [expression_failed]', () => {
  const reason = 'The expression of node n failed:'
  expect(run({ kind: 'expression', expression: 'x.y' }, { x: {} })).toMatchObject(
    failed('expression_failed', { message: `${reason} there is no field y.` }),
  )
  expect(run({ kind: 'expression', expression: 'x.y', type: 'string' }, { x: { y: 1 } })).toMatchObject(
    failed('expression_failed'),
  )
  expect(run({ kind: 'expression', expression: 'x.y' }, { x: { y: null } })).toMatchObject(failed('expression_failed'))
  expect(run({ kind: 'expression', expression: 'x.y' }, { x: { y: [] } })).toMatchObject(failed('expression_failed'))
  expect(run({ kind: 'branch', condition: 'x' }, { x: 'true' })).toMatchObject(failed('expression_failed'))
  expect(run({ kind: 'template', template: '{{ 1 / x }}' }, { x: 0 })).toMatchObject(failed('expression_failed'))
  const list = Array.from({ length: 30_000 }, () => 0)
  expect(run({ kind: 'expression', expression: 'o.l.exists(x, x + 1 in o.l)' }, { o: { l: list } })).toMatchObject(
    failed('expression_failed', { message: `${reason} it takes too long.` }),
  )
})

// spec: 8.2/r5
test('a text larger than 64 KB fails the node [value_too_large]', () => {
  const most = flowLimits.portBytes
  const text = (length: number) => ({ x: 'a'.repeat(length) })
  for (const node of [
    { kind: 'template', template: '{{ x }}' },
    { kind: 'expression', expression: 'x + ""' },
    { kind: 'branch', condition: 'x != ""' },
  ]) {
    expect(run(node, text(most))).toMatchObject({ kind: 'succeeded' })
    expect(run(node, text(most + 1))).toMatchObject(failed('value_too_large'))
  }
  // As JSON, a quote has two characters.
  const quotes = { x: '"'.repeat(most) }
  expect(run({ kind: 'template', template: '{{ x }}' }, quotes)).toMatchObject({ kind: 'succeeded' })
})

test('the output node fails if a required field is missing [output_missing]', () => {
  const contract = side({ a: { type: 'string' }, b: { type: 'string', enum: ['x'] }, c: { type: 'number' } }, [
    'a',
    'b',
  ])
  expect(run({ kind: 'output' }, { a: '', b: 'x' }, contract)).toEqual(succeeded({ a: '', b: 'x' }))
  expect(run({ kind: 'output' }, { b: '' }, contract)).toMatchObject(
    failed('output_missing', { message: 'The execution ended without the required output a, b.' }),
  )
})

test('the output node names a field that violates the contract, and how to make it fit [node_failed]', () => {
  const contract = side({ b: { type: 'string', enum: ['x'] }, c: { type: 'number' } })
  const result = run({ kind: 'output' }, { b: 'y', c: '1' }, contract)
  const faults = [
    { field: 'b', message: 'must be one of "x"' },
    { field: 'c', message: 'must be a number' },
  ]
  expect(result).toMatchObject(
    failed('node_failed', {
      param: 'b',
      message: 'The output does not fit the contract: b must be one of "x"; c must be a number.',
      details: { fields: faults },
    }),
  )
  if (result.kind !== 'failed') throw new Error(`it has ${result.kind}`)
  const { resolution } = errorOfExecution(result.error, {
    id: 'exe_1',
    startedBy: 'invoke',
    chargedMicro: 1,
    ended: true,
  })
  expect(resolution).toMatch(/^Have the model .* or widen the contract\. Then run the sandbox product again/)
  expect(resolution).not.toContain('support')
})

// spec: 8.2/r6
test('an output larger than 256 KB fails [output_too_large]', () => {
  const contract = side(Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { type: 'string' }])))
  // {"a":"…","b":"…","c":"…","d":"…","e":"…"}: 5 fields of 5 characters and their quotes, 4 commas, 2 braces
  const most = flowLimits.outputBytes - 5 * 6 - 4 - 2
  const values = (length: number) => {
    const each = Math.floor(length / 5)
    return {
      a: 'x'.repeat(each),
      b: 'x'.repeat(each),
      c: 'x'.repeat(each),
      d: 'x'.repeat(each),
      e: 'x'.repeat(length - 4 * each),
    }
  }
  const fits = run({ kind: 'output' }, values(most), contract)
  expect(fits.kind === 'succeeded' && JSON.stringify(fits.output).length).toBe(flowLimits.outputBytes)
  expect(run({ kind: 'output' }, values(most + 1), contract)).toMatchObject(failed('output_too_large'))
})

test('throws for kinds it does not run', () => {
  expect(() => run({ kind: 'product.chat' })).toThrow('are not run here')
  expect(() => run({ kind: 'input' })).toThrow('are not run here')
})

test('resolves inputs from the outputs of the sources that have values', () => {
  const outputs = {
    a: '{"x":1,"n":null}',
    b: '{"true.x":2}',
    i: '{"image":{"asset":"ast_1"}}',
    j: '{"image":{"asset":"ast_2"}}',
    unread: 'no JSON',
  }
  const template = { id: 't', kind: 'template', template: '' }
  expect(
    resolveInputs(
      {
        x: [['a', 'x']],
        y: [
          ['b', 'true.x'],
          ['b', 'false.x'],
        ],
        z: [
          ['b', 'false.x'],
          ['b', 'true.x'],
        ],
      },
      outputs,
      template,
    ),
  ).toEqual({ x: 1, y: 2, z: 2 })
  expect(
    resolveInputs(
      { n: [['a', 'n']], s: [['skipped', 'x']], p: [['a', 'constructor']], q: [['constructor', 'name']] },
      outputs,
      template,
    ),
  ).toEqual({})
  const chat = { id: 'c', kind: 'product.chat', product: 'p' }
  expect(
    resolveInputs(
      {
        prompt: [['b', 'true.x']],
        image: [
          ['i', 'image'],
          ['skipped', 'image'],
          ['j', 'image'],
        ],
      },
      outputs,
      chat,
    ),
  ).toEqual({
    prompt: 2,
    image: [{ asset: 'ast_1' }, { asset: 'ast_2' }],
  })
})
