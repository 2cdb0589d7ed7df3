import { randomBytes } from 'node:crypto'
import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import type { ContractSide, Graph } from '@gateway/api/graph'
import type { SandboxOptions } from '@gateway/testbed/fixture'
import { stackTest } from './stack.fixture.ts'

// Flows for tests to call.

export const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from('0123456789'.repeat(100))])

const side = (properties: ContractSide['properties'], required = Object.keys(properties)): ContractSide => ({
  type: 'object',
  properties,
  required,
})
const text = { type: 'string' }
const ends = [
  { id: 'in', kind: 'input' },
  { id: 'out', kind: 'output' },
]

/** Returns its input text. Free of charge. */
export const echo: Graph = {
  input: side({ text }),
  output: side({ text }),
  nodes: ends,
  edges: [{ from: 'in.text', to: 'out.text' }],
}

/** Returns its input image as its only output. */
export const sameImage: Graph = {
  input: side({ picture: { type: 'object', format: 'image' } }),
  output: side({ picture: { type: 'object', format: 'image' } }),
  nodes: ends,
  edges: [{ from: 'in.picture', to: 'out.picture' }],
}

/** Generates an image from the text. */
export const draw = (product: string): Graph => ({
  input: side({ text }),
  output: side({ picture: { type: 'object', format: 'image' } }),
  nodes: [...ends, { id: 'draw', kind: 'product.image', product }],
  edges: [
    { from: 'in.text', to: 'draw.prompt' },
    { from: 'draw.image', to: 'out.picture' },
  ],
})

/** Asks a model about a topic in a tone. */
export const ask = (product: string): Graph => ({
  input: side({ topic: text, tone: { type: 'string', enum: ['dry', 'warm'] }, length: { type: 'number' } }, ['topic']),
  output: side({ text }),
  nodes: [
    ...ends,
    { id: 'prompt', kind: 'template', template: '{{ topic }}' },
    { id: 'draft', kind: 'product.chat', product, params: { max_tokens: 50 } },
  ],
  edges: [
    { from: 'in.topic', to: 'prompt.topic' },
    { from: 'prompt.text', to: 'draft.prompt' },
    { from: 'draft.text', to: 'out.text' },
  ],
})

/** Passes the text to a model, and each response to the next of `more` further calls. */
export const chain = (product: string, more = 0): Graph => {
  const ids = Array.from({ length: more + 1 }, (_, n) => `step${n}`)
  return {
    input: side({ text }),
    output: side({ text }),
    nodes: [...ends, ...ids.map((id) => ({ id, kind: 'product.chat', product, params: { max_tokens: 20 } }))],
    edges: [
      { from: 'in.text', to: `${ids[0]}.prompt` },
      ...ids.slice(1).map((id, n) => ({ from: `${ids[n]}.text`, to: `${id}.prompt` })),
      { from: `${ids.at(-1)}.text`, to: 'out.text' },
    ],
  }
}

export const flowTest = stackTest.extend('flows', async ({ tenant, fixture }) => {
  const save = async (graph: Graph, options: SandboxOptions = {}) =>
    (await fixture.sandbox({ id: tenant.project }, graph, options)).id

  interface More extends Omit<RequestInit, 'headers' | 'body'> {
    headers?: Record<string, string>
    /** Body fields in addition to the input. */
    fields?: object
  }
  /** Sends an invocation, with a fresh idempotency key unless `headers` has one. */
  const invoke = (sandbox: string, input: unknown, { headers = {}, fields = {}, ...more }: More = {}) =>
    fetch(`${tenant.url}/v1/sandbox/${sandbox}/invoke`, {
      method: 'POST',
      body: JSON.stringify({ input, ...fields }),
      ...more,
      headers: { ...tenant.headers, accept: 'application/json', 'idempotency-key': newKey(), ...headers },
    })

  const upload = (bytes: Uint8Array<ArrayBuffer>, type: string, headers: Record<string, string> = {}) =>
    fetch(`${tenant.url}/v1/assets`, {
      method: 'POST',
      body: bytes,
      headers: { authorization: tenant.headers.authorization, 'content-type': type, ...headers },
    })

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(tenant.url + path, { headers: { authorization: tenant.headers.authorization, ...headers } })

  /** Number of executions recorded for the project. */
  async function executions(): Promise<number> {
    const { rows } = await fixture.run('SELECT count(*)::int AS executions FROM money.executions WHERE project = $1', [
      tenant.project,
    ])
    return (rows as [{ executions: number }])[0].executions
  }
  return { save, invoke, upload, get, executions }
})

export const newKey = () => `run-${randomBytes(8).toString('hex')}`

export const PROGRESS = { accept: 'application/x-ndjson' }

export async function recordOf(answer: Response): Promise<ExecutionRecord> {
  return (await answer.json()) as ExecutionRecord
}

export function linesOf(progress: string): ProgressLine[] {
  return progress
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as ProgressLine)
}

/** Reads lines as they arrive. */
export async function openLines({ body }: Response) {
  const lines: ProgressLine[] = []
  const parts = body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  let rest = ''
  async function more(): Promise<boolean> {
    const { value, done } = await parts.next()
    if (done) return false
    rest += value
    const whole = rest.slice(0, rest.lastIndexOf('\n') + 1)
    lines.push(...linesOf(whole))
    rest = rest.slice(whole.length)
    return true
  }
  return {
    lines,
    async take(count: number) {
      while (lines.length < count && (await more())) continue
      return lines.slice(0, count)
    },
    async end() {
      while (await more()) continue
    },
  }
}
