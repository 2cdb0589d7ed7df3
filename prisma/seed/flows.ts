import type { Page } from '@gateway/api/console/page'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import type { Graph } from '@gateway/api/graph'
import { media } from './catalogue.ts'
import { ids, type Seeded, type SeedOptions } from './seeded.ts'

type Deps = Pick<SeedOptions, 'before' | 'consoleUrl' | 'log'> & { consoleToken: string }

/**
 * Two flows of the first project, made the way any user makes them: through the console, which checks them and builds
 * their packages. One that is there stays unchanged, also one that someone has suspended.
 *
 * The console refuses this if the user may no longer use the project. That is reported and no reason not to start.
 */
export async function seedFlows(deps: Deps): Promise<Seeded['sandboxes']> {
  try {
    return await findOrMake(deps)
  } catch (error) {
    deps.log(`The example flows could not be checked: ${(error as Error).message}`)
    return deps.before?.sandboxes ?? null
  }
}

async function findOrMake(deps: Deps): Promise<Seeded['sandboxes']> {
  const { before } = deps
  const there = await ask<Page<SandboxRecord>>(deps, 'GET', `${project}/sandboxes?limit=500`)
  const flowOf = async (kept: string | undefined, name: string, description: string, graph: Graph) => {
    const found = there.data.find(({ id }) => id === kept) ?? there.data.find((each) => each.name === name)
    const body = { name, description, mcpEnabled: true }
    const { id, latestRevision, activeRevision } =
      found ?? (await ask<SandboxRecord>(deps, 'POST', `${project}/sandboxes`, body))
    if (activeRevision === null) await deploy(deps, id, name, latestRevision === 0 ? graph : null)
    return id
  }
  return {
    chat: await flowOf(before?.sandboxes?.chat, 'Short answers', 'Answers a question in one sentence.', shortAnswers),
    mixed: await flowOf(
      before?.sandboxes?.mixed,
      'Illustrated note',
      'Writes a short note about a topic, and draws a picture of it.',
      illustratedNote,
    ),
  }
}

const tenant = `/api/v2/tenants/${ids.tenant}`
const project = `${tenant}/projects/${ids.project}`

/**
 * Where someone has taken a product of it from the project, that is reported and no reason not to start: the next start tries
 * again. @param graph null: it was saved before
 */
async function deploy(deps: Deps, sandbox: string, name: string, graph: Graph | null): Promise<void> {
  try {
    const path = `${tenant}/sandboxes/${sandbox}/revisions`
    if (graph !== null) await ask(deps, 'POST', path, { graph })
    await ask(deps, 'POST', `${path}/1/activate`)
  } catch (error) {
    deps.log(`The flow ${name} is not active: ${(error as Error).message}`)
  }
}

async function ask<Answer>({ consoleUrl, consoleToken }: Deps, method: string, path: string, body?: object) {
  const answer = await fetch(consoleUrl + path, {
    method,
    headers: { Authorization: `Bearer ${consoleToken}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path} returned ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Answer
}

/** One text in, one text out: so it is a model, too. */
const shortAnswers: Graph = {
  input: { type: 'object', properties: { question: { type: 'string', title: 'Question' } }, required: ['question'] },
  output: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'ask', kind: 'template', template: 'Answer in one sentence: {{ question }}' },
    { id: 'reply', kind: 'product.chat', product: 'acme/swift', params: { max_tokens: 200 } },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.question', to: 'ask.question' },
    { from: 'ask.text', to: 'reply.prompt' },
    { from: 'reply.text', to: 'out.answer' },
  ],
}

/** A note, which is shortened where it is long, and alongside it a picture. */
const illustratedNote: Graph = {
  input: {
    type: 'object',
    properties: {
      topic: { type: 'string', title: 'Topic' },
      tone: { type: 'string', title: 'Tone', enum: ['dry', 'warm'] },
    },
    required: ['topic'],
  },
  output: {
    type: 'object',
    properties: { text: { type: 'string' }, picture: { type: 'object', format: 'image' } },
    required: ['text', 'picture'],
  },
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'ask', kind: 'template', template: 'Write a note about {{ topic }}. Tone: {{ tone }}' },
    { id: 'draft', kind: 'product.chat', product: 'acme/swift', params: { max_tokens: 300 } },
    { id: 'long', kind: 'branch', condition: 'size(text) > 160' },
    { id: 'shorten', kind: 'template', template: 'Shorten this to one sentence: {{ text }}' },
    { id: 'trim', kind: 'product.chat', product: 'acme/swift', params: { max_tokens: 100 } },
    { id: 'scene', kind: 'template', template: 'A picture of {{ topic }}.' },
    { id: 'draw', kind: 'product.image', product: media.image },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.topic', to: 'ask.topic' },
    { from: 'in.tone', to: 'ask.tone' },
    { from: 'ask.text', to: 'draft.prompt' },
    { from: 'draft.text', to: 'long.text' },
    { from: 'long.true.text', to: 'shorten.text' },
    { from: 'shorten.text', to: 'trim.prompt' },
    { from: 'trim.text', to: 'out.text' },
    { from: 'long.false.text', to: 'out.text' },
    { from: 'in.topic', to: 'scene.topic' },
    { from: 'scene.text', to: 'draw.prompt' },
    { from: 'draw.image', to: 'out.picture' },
  ],
}
