import path from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { browserBundle, inBrowser } from '@gateway/testbed/browser-bundle'
import * as inNode from './browser-program.fixture.ts'
import { changedFlow } from './changed-flow.fixture.ts'
import { validFlow } from './generators.fixture.ts'

// The console's page decides with these packages before it calls the server, so both must decide alike.

const program = path.join(import.meta.dirname, 'browser-program.fixture.ts')
let page: typeof inNode
beforeAll(async () => {
  page = inBrowser((await browserBundle(program)).script) as typeof inNode
})

describe('without the Node.js runtime', () => {
  test('every graph has the same problems and ports, and a valid one the same package and execution', () => {
    const numRuns = 1000 * inject('propertyShare')
    const flows = [validFlow(), changedFlow].flatMap((flow) => fc.sample(flow, { numRuns, seed: 15 }))
    const sent = flows.map(({ graph, input, products }) => JSON.stringify({ graph, input, products: [...products] }))
    const judged = sent.map((flow) => [page.judge(flow), inNode.judge(flow)])
    for (const [there, here] of judged) expect(there).toBe(here)
    // About nine in ten of the mutated graphs have problems; unmodified ones have none.
    const broken = judged.filter(([, here]) => here!.startsWith('{"problems"')).length
    expect([broken > numRuns / 2, broken < numRuns]).toEqual([true, true])
  })

  test.each(['{{ "é€😀" + text }}', '{{ size(text) }} {{ text.split(" ") }}', '{{ half', '{{ "\\ud83d" }}'])(
    'the template %s renders the same',
    (template) => {
      const contract = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
      const graph = {
        input: contract,
        output: contract,
        nodes: [
          { id: 'in', kind: 'input' },
          { id: 't', kind: 'template', template },
          { id: 'out', kind: 'output' },
        ],
        edges: [
          { from: 'in.text', to: 't.text' },
          { from: 't.text', to: 'out.text' },
        ],
      }
      const flow = JSON.stringify({ graph, input: { text: 'é 😀 x' }, products: [] })
      expect(page.judge(flow)).toBe(inNode.judge(flow))
    },
  )

  test('a call has the same cost', () => {
    const usd = fc.nat(10 ** 9).map((nano) => (nano / 1e9).toFixed(9))
    fc.assert(
      fc.property(usd, usd, fc.nat(), fc.nat(), (prompt, completion, sent, answered) => {
        expect(page.cost(prompt, completion, sent, answered)).toBe(inNode.cost(prompt, completion, sent, answered))
      }),
      { numRuns: 500 * inject('propertyShare') },
    )
  })

  test.each([
    ['createKey', { name: 'k', project: 'prj_1', models: [] }],
    ['createKey', { name: 'k', limit: { micro: -1, reset: 'daily' } }],
    ['completeChat', { model: 'm', messages: [{ role: 'user', content: 'é' }] }],
    ['completeChat', chatWithImage('data:image/png;base64,AAAA')],
    ['completeChat', chatWithImage('data:image/png;base64,AAA\u0141')],
    ['completeChat', chatWithImage('https://example.test/a.png')],
    ['completeChat', { model: 'm', messages: [], tool_choice: 'é'.repeat(1023) }],
    ['invokeSandbox', { input: {} }],
  ])('a body of %s is accepted or rejected as by the server: %.80j', (operation, body) => {
    const text = JSON.stringify(body)
    expect(page.takes(operation, text)).toBe(inNode.takes(operation, text))
  })
})

function chatWithImage(url: string) {
  return { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }
}
