import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import type { SeededStack } from '@gateway/testbed/seeded-stack'
import { type Caller, callerAt } from './src/caller.ts'
import { agents } from './src/guides/agents.ts'
import { openGuideProject } from './src/guides/guide-project.ts'
import { guideTest as test } from './src/guides/guide-test.ts'
import { missingForGuides } from './src/guides/is-there.ts'
import { runGuide } from './src/guides/run-guide.ts'
import { registryProgram, type RegistryProgram } from './src/registry-program.ts'

// Unmodified coding agents from the registry, with the settings of docs/coding-agents.md.

/** Fetching an agent can take a minute if the registry is slow. */
const fetched = { timeout: 300_000 }

/** Introduction of the page, and its section for each agent. */
async function readParts() {
  const page = await readFile(path.join(import.meta.dirname, '../docs/coding-agents.md'), 'utf8')
  const [before = '', rest = ''] = page.split(/^(?=## The agents$)/m)
  const [text = '', ...sections] = rest.split(/^## (?!The agents)/m)[0]!.split(/^### /m)
  const settings = new Map(sections.map((section) => [section.split('\n')[0]!, section] as const))
  return { before, table: text, settings }
}

test('docs/coding-agents.md has the settings and the version of each tested agent', async () => {
  const { table, settings } = await readParts()
  expect([...settings.keys()]).toEqual(agents.map(({ title }) => title))
  for (const { title, version } of agents)
    expect(table).toMatch(new RegExp(`^\\| ${title}\\b.* \\| ${version} \\| yes`, 'm'))
})

interface Reading {
  stack: SeededStack
  open: (variables: Record<string, string>) => Parameters<typeof runGuide>[1]
  skip: (why: string) => void
}

/** Follows the page for one agent, with `model` in place of the one that it names. Returns the models that were charged. */
async function follow(agent: RegistryProgram, model: string, { stack, open, skip }: Reading): Promise<string[]> {
  const missing = await missingForGuides()
  if (missing !== null) skip(`there is no ${missing} on this machine`)
  const file = await registryProgram(agent)
  expect(file, `the registry has no ${agent.name}@${agent.version}`).not.toBeNull()
  const { before, settings } = await readParts()
  const project = await openGuideProject(stack, before)
  const user = callerAt(stack.baseUrl, stack.consoleToken)
  const at = `/api/v2/tenants/${project['GATEWAY_TENANT']}/projects/${project['GATEWAY_PROJECT']}`
  if (model !== MODEL) await addModel(user, at, model)
  const { PATH = '' } = process.env
  const reader = open({ ...project, PATH: [path.dirname(file!), PATH].join(path.delimiter) })
  const named = (text: string) => text.replaceAll(MODEL, model)
  await runGuide(named(before), reader)
  const key = JSON.parse(await readFile(path.join(reader.folder, 'agent-key.json'), 'utf8')) as { key: { id: string } }
  const calls = async () => {
    const { body } = await user.ask('GET', `${at}/invocations?key=${key.key.id}&state=Settled`)
    return (body as { data: { chargedMicro: number; model: string }[] }).data
  }
  expect(await calls()).toEqual([])
  await runGuide(named(settings.get(agent.title)!), reader)
  await expect.poll(calls).not.toEqual([])
  const charged = await calls()
  for (const { chargedMicro } of charged) expect(chargedMicro).toBeGreaterThan(0)
  return charged.map(({ model: called }) => called)
}

const MODEL = 'acme/swift'

/** Publishes a model like acme/swift, and assigns it to a project. */
async function addModel(user: Caller, at: string, id: string): Promise<void> {
  const { body } = await user.ask('GET', '/api/v2/products')
  const like = (body as { data: Record<string, unknown>[] }).data.find((product) => product['id'] === MODEL)
  const { createdAt: _, ...fields } = like!
  const made = await user.ask('POST', '/api/v2/products', { ...fields, id, state: 'published' })
  expect([made.status, made.text]).toEqual([201, expect.any(String)])
  const assigned = await user.ask('PUT', `${at}/assignments/${encodeURIComponent(id)}`, undefined)
  expect(assigned.status).toBeLessThan(300)
}

test.for(agents.map((agent): [string, RegistryProgram] => [agent.title, agent]))(
  '%s works through the gateway with its documented settings and charges its key',
  fetched,
  async ([, agent], { stack, open, skip }) => {
    for (const model of await follow(agent, MODEL, { stack, open, skip })) expect(model).toBe(MODEL)
  },
)

test(
  'opencode works with a model whose ID contains claude, to which it adds cache marks',
  fetched,
  async ({ stack, open, skip }) => {
    const model = 'acme/claude-like-4'
    const opencode = agents.find(({ title }) => title === 'opencode')!
    expect(new Set(await follow(opencode, model, { stack, open, skip }))).toEqual(new Set([model]))
  },
)
