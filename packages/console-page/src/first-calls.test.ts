import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { firstCalls } from '../page/keys/commands.ts'

const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/coding-agents.md'), 'utf8')
const calls = firstCalls('https://models.example.com', 'svc_secret', "acme/it's")

/** Settings of an agent in the guide, whose blocks are executed by a test. */
function guideOf(agent: string): string[] {
  const [, block = ''] = new RegExp(`### ${agent}\\n\\n\`\`\`sh\\n([^]*?)\`\`\``).exec(guide) ?? []
  return namesIn(block)
}

function namesIn(block: string): string[] {
  const lines = block.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => /^(?:export )?[^ =]+/.exec(line)![0])
}

test.for(['Claude Code', 'Codex'] as const)('%s has the settings of the guide', (agent) => {
  const settings = namesIn(calls[agent]!)
  const name = agent === 'Codex' ? 'Codex CLI' : agent
  expect(guideOf(name).length).toBeGreaterThan(3)
  expect(guideOf(name).filter((setting) => !settings.includes(setting))).toEqual([])
})

test('the shell reads address, key and model of each command as they are', () => {
  const run = (command: string) => execFileSync('sh', ['-c', command], { encoding: 'utf8' })
  const seen = run(`curl() { printf '%s\\n' "$@"; }\n${calls['curl']}`)
  expect(seen).toContain('https://models.example.com/v1/chat/completions\n')
  expect(JSON.parse(seen.trim().split('\n').at(-1)!)).toMatchObject({ model: "acme/it's" })
  const claude = run(
    `claude() { printf '%s\\n' "$ANTHROPIC_BASE_URL" "$ANTHROPIC_API_KEY" "$@"; }\n${calls['Claude Code']}`,
  )
  expect(claude.split('\n').slice(0, 4)).toEqual(['https://models.example.com', 'svc_secret', '--model', "acme/it's"])
})

test('without a model, the models are listed, and no agent is offered', () => {
  const unnamed = firstCalls('https://models.example.com', 'svc_secret', undefined)
  expect(Object.keys(unnamed)).toEqual(['curl', 'Python', 'TypeScript'])
  expect(unnamed['curl']).toContain('/v1/models')
})
