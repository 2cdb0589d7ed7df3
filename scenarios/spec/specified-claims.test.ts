import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { chatLimits, flowLimits, idempotencyKeyLimits, keyLimits } from '@gateway/api/limits'
import { apiRoutes } from '@gateway/api/openapi-document'
import { refusals } from '@gateway/api/refusals'
import { splitSpecification } from './split-specification.ts'

// The code has every endpoint, code, status and limit that the specification lists, read from its text.

const markdown = readFileSync(path.resolve(import.meta.dirname, '../../docs/specification.md'), 'utf8')
const statements = splitSpecification(markdown)
const rowsOf = (section: string) => statements.filter(({ id }) => id.startsWith(`${section}/r`)).map(({ says }) => says)
const cellsOf = (row: string) =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''))

const KB = 1024
const range = ({ min, max }: { min: number; max: number }) => `${min} to ${max}`

describe('specified endpoints', () => {
  /** The specification doesn't fix parameter names. */
  const plain = (route: string) => route.replaceAll(/\{\w+\}/g, '{}')
  const served = apiRoutes.map(({ method, path }) => plain(`${method} ${path}`))

  // spec: 0/s4, 9/s2
  test('named in headings are served', () => {
    const named = [...markdown.matchAll(/^### 4\.\d `(?:(\w+) )?(\/[^`]+)`$/gm)]
    expect(named).toHaveLength(5)
    for (const [, method = 'POST', path = ''] of named) expect(served).toContain(plain(`${method} ${path}`))
  })

  // spec: 9/s1, 9/s2
  test('take keys below /v1 and user credentials below /api/v2', () => {
    for (const { path, by } of apiRoutes)
      expect([path, by, path.split('/').slice(0, 3).join('/')]).toEqual([
        path,
        by,
        by === 'key' ? expect.stringMatching(/^\/v1\//) : '/api/v2',
      ])
  })

  // spec: 6/s1
  test('stream progress only if they run a sandbox product or follow its execution', () => {
    const answering = (type: string) =>
      apiRoutes
        .filter(({ answers }) => Object.values(answers).some(({ also }) => also && type in also))
        .filter(({ path }) => !path.endsWith('/audit/export')) // lines of the audit, not of progress
        .map(({ method, path }) => `${method} ${path}`)
    expect(answering('application/x-ndjson').toSorted()).toEqual([
      'GET /api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/progress',
      'GET /v1/executions/{id}/progress',
      'POST /api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/rerun',
      'POST /api/v2/tenants/{tenant}/sandboxes/{sandbox}/execute',
      'POST /v1/sandbox/{id}/invoke',
    ])
    // Streams of a model's or a tool's response, not of service events.
    expect(answering('text/event-stream').toSorted()).toEqual([
      'POST /v1/chat/completions',
      'POST /v1/messages',
      'POST /v1/responses',
      'POST /v1/sandbox/{id}/mcp',
    ])
  })
})

describe('specified codes', () => {
  const table = rowsOf('7').map(cellsOf)

  // spec: 7/r1, 7/r2, 7/r3, 7/r4, 7/r5, 7/r6, 7/r7, 7/r8, 7/r9, 7/r10, 7/r11, 7/r12, 7/r13, 7/r16
  test('have the status in the table', () => {
    const named = table.filter(([, code]) => !code!.startsWith('('))
    expect(named).toHaveLength(14)
    const ours = named.map(([, code]) => [String(refusals[code as keyof typeof refusals]?.status), code])
    expect(ours).toEqual(named.map(([status, code]) => [status, code]))
  })

  // spec: 7/r14, 7/r15, 7/r17, 7/s1
  test('left open by the table have its status', () => {
    const open = table.filter(([, code]) => code!.startsWith('(')).map(([status]) => Number(status))
    const { sandbox_not_found, method_not_allowed, insufficient_budget } = refusals
    expect(open).toEqual([sandbox_not_found, method_not_allowed, insufficient_budget].map(({ status }) => status))
  })
})

describe('specified limits', () => {
  const { messages, maxTokens, temperature, topP, stopSequences, stopCharacters, tools } = chatLimits
  const { toolsBytesUnder, toolChoiceBytesUnder, responseFormatBytesUnder, forwardedBytes } = chatLimits

  // spec: 8.1/r1, 8.1/r2, 8.1/r3, 8.1/r4, 8.1/r5, 8.1/r6, 8.1/r7, 8.1/r8, 8.1/r9, 8.1/r10, 8.1/r11
  test('of chat completions equal the table', () => {
    expect(rowsOf('8.1').map(cellsOf)).toEqual([
      ['messages', range(messages)],
      ['max_tokens', `${range(maxTokens)}, and at most the model's max_output_tokens`],
      ['temperature', range(temperature)],
      ['top_p', `above ${topP.above}, at most ${topP.max}`],
      ['n', 'exactly 1'],
      ['stop', `up to ${stopSequences} sequences of ${range(stopCharacters)} characters`],
      ['tools', `up to ${tools} definitions, under ${toolsBytesUnder / KB} KB total`],
      ['tool_choice', `under ${toolChoiceBytesUnder / KB} KB`],
      ['response_format', `under ${responseFormatBytesUnder / KB} KB`],
      ['messages plus forwarded parameters', `at most ${forwardedBytes.toLocaleString('en')} bytes`],
      ['Idempotency-Key', `${range(idempotencyKeyLimits)} characters; optional here`],
    ])
  })

  // spec: 8.2/r1, 8.2/r2, 8.2/r3, 8.2/r4, 8.2/r5, 8.2/r6, 8.2/r7, 8.2/r8, 8.2/r9
  test('of sandbox products equal the table', () => {
    expect(rowsOf('8.2').map(cellsOf)).toEqual([
      ['nodes per flow', String(flowLimits.nodes)],
      ['edges per flow', String(flowLimits.edges)],
      ['paid product calls per flow', String(flowLimits.paidNodes)],
      ['contract fields', String(flowLimits.contractFields)],
      ['value size per port', `${flowLimits.portBytes / KB} KB`],
      ['output size per execution', `${flowLimits.outputBytes / KB} KB`],
      ['execution time', `${flowLimits.executionMs / 60_000} minutes`],
      ['select options', `${range(flowLimits.selectOptions)} unique`],
      ['Idempotency-Key (invoke and MCP tool calls)', `required, ${range(idempotencyKeyLimits)} characters`],
    ])
  })

  // spec: 8.3/s1
  test('of keys equal the text', () => {
    const { expiryDays } = keyLimits
    expect(statements).toContainEqual({
      id: '8.3/s1',
      says: `Key expiry: ${range(expiryDays)} days, default ${expiryDays.default}.`,
    })
  })
})
