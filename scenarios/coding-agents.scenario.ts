import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import { callerAt } from './src/caller.ts'
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

test.for(agents.map((agent): [string, RegistryProgram] => [agent.title, agent]))(
  '%s works through the gateway with its documented settings and charges its key',
  fetched,
  async ([title, agent], { stack, open, skip }) => {
    const missing = await missingForGuides()
    if (missing !== null) skip(`there is no ${missing} on this machine`)
    const file = await registryProgram(agent)
    expect(file, `the registry has no ${agent.name}@${agent.version}`).not.toBeNull()
    const project = await openGuideProject(stack)
    const { PATH = '' } = process.env
    const reader = open({ ...project, PATH: [path.dirname(file!), PATH].join(path.delimiter) })
    const { before, settings } = await readParts()
    await runGuide(before, reader)
    const key = JSON.parse(await readFile(path.join(reader.folder, 'agent-key.json'), 'utf8')) as {
      key: { id: string }
    }
    const user = callerAt(stack.baseUrl, stack.consoleToken)
    const calls = async () => {
      const at = `/api/v2/tenants/${project['GATEWAY_TENANT']}/projects/${project['GATEWAY_PROJECT']}/invocations`
      const { body } = await user.ask('GET', `${at}?key=${key.key.id}&state=Settled`)
      return (body as { data: { chargedMicro: number; model: string }[] }).data
    }
    expect(await calls()).toEqual([])

    await runGuide(settings.get(title)!, reader)
    await expect.poll(calls).not.toEqual([])
    for (const { chargedMicro, model } of await calls()) {
      expect(model).toBe('acme/swift')
      expect(chargedMicro).toBeGreaterThan(0)
    }
  },
)
