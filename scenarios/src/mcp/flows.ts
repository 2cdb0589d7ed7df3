import type { ContractSide, Graph } from '@gateway/api/graph'

type Schema = ContractSide['properties'][string]

const TEXT: Schema = { type: 'string' }
const IMAGE: Schema = { type: 'object', format: 'image', description: 'What to look at.' }

/** Flows for tests. Together they use every field type. */
export const flows = {
  /** Free: every input type except media, all reflected in the output. */
  echo: () =>
    flow(
      side(
        {
          topic: TEXT,
          tone: { type: 'string', enum: ['dry', 'warm'] },
          size: { type: 'number' },
          loud: { type: 'boolean' },
          more: { type: 'object' },
        },
        ['topic'],
      ),
      side({ text: TEXT, double: { type: 'number' }, more: { type: 'object' } }, ['text']),
      [
        { id: 'write', kind: 'template', template: '{{ topic }} ({{ tone }}, {{ loud }})' },
        { id: 'twice', kind: 'expression', expression: 'size == null ? 0.0 : size * 2.0' },
      ],
      'in.topic>write.topic in.tone>write.tone in.loud>write.loud write.text>out.text in.size>twice.size twice.value>out.double in.more>out.more',
    ),
  /** One paid call. */
  draft: (model: string) =>
    flow(
      side({ text: TEXT }, ['text']),
      side({ text: TEXT }, ['text']),
      [{ id: 'draft', kind: 'product.chat', product: model }],
      'in.text>draft.prompt draft.text>out.text',
    ),
  /** Two paid calls in sequence. */
  chain: (model: string) =>
    flow(
      side({ prompt: TEXT }, ['prompt']),
      side({ text: TEXT }, ['text']),
      [
        { id: 'draft', kind: 'product.chat', product: model, params: { max_tokens: 40 } },
        { id: 'polish', kind: 'product.chat', product: model, params: { max_tokens: 40 } },
      ],
      'in.prompt>draft.prompt draft.text>polish.prompt polish.text>out.text',
    ),
  picture: (product: string) =>
    flow(
      side({ prompt: TEXT }, ['prompt']),
      side({ picture: { type: 'object', format: 'image' } }, ['picture']),
      [{ id: 'draw', kind: 'product.image', product }],
      'in.prompt>draw.prompt draw.image>out.picture',
    ),
  speech: (product: string) =>
    flow(
      side({ text: TEXT, voice: { type: 'string', enum: ['alto', 'bass'], format: 'voice' } }, ['text']),
      side({ sound: { type: 'object', format: 'audio' } }, ['sound']),
      [{ id: 'say', kind: 'product.audio', product }],
      'in.text>say.text in.voice>say.voice say.audio>out.sound',
    ),
  /** Returns any object. */
  wrapped: () =>
    flow(
      side({ more: { type: 'object' } }, ['more']),
      side({ more: { type: 'object' } }, ['more']),
      [],
      'in.more>out.more',
    ),
  /** Returns its input image. */
  mirror: () => flow(side({ photo: IMAGE }, ['photo']), side({ photo: IMAGE }, ['photo']), [], 'in.photo>out.photo'),
}

function side(properties: Record<string, Schema>, required: string[]): ContractSide {
  return { type: 'object', properties, required }
}

/** @param edges `node.port>node.port`, separated by spaces */
function flow(input: ContractSide, output: ContractSide, nodes: Graph['nodes'], edges: string): Graph {
  return {
    input,
    output,
    nodes: [{ id: 'in', kind: 'input' }, ...nodes, { id: 'out', kind: 'output' }],
    edges: edges.split(' ').map((edge) => {
      const [from, to] = edge.split('>') as [string, string]
      return { from, to }
    }),
  }
}
