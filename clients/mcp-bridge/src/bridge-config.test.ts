import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ConfigurationError } from '@gateway/service-kit/process/config'
import { readBridgeConfig } from './bridge-config.ts'

const MCP_BRIDGE_URL = 'https://gateway.example/v1/sandbox/sbx-1/mcp'
const MCP_BRIDGE_KEY = 'svc_secret'

function problemsOf(args: string[], env: Record<string, string>): readonly string[] {
  try {
    readBridgeConfig(args, env)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems
  }
  throw new Error('nothing was wrong')
}

test('readBridgeConfig takes the address and the key from the environment', () => {
  expect(readBridgeConfig([], { MCP_BRIDGE_URL, MCP_BRIDGE_KEY })).toEqual({
    url: new URL(MCP_BRIDGE_URL),
    key: MCP_BRIDGE_KEY,
    retryMs: 1_200_000,
  })
})

test('an argument takes precedence over the environment', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bridge-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'key')
  writeFileSync(file, 'svc_of_the_file\n')
  const args = ['--url', 'http://localhost:1/v1/sandbox/sbx-2/mcp', '--key-file', file, '--retry-seconds', '5']
  expect(readBridgeConfig(args, { MCP_BRIDGE_URL, MCP_BRIDGE_KEY })).toEqual({
    url: new URL('http://localhost:1/v1/sandbox/sbx-2/mcp'),
    key: 'svc_of_the_file',
    retryMs: 5_000,
  })
})

test('all problems are reported at once, by name and without the key', () => {
  const problems = problemsOf([], { MCP_BRIDGE_URL: 'https://gateway.example/mcp', MCP_BRIDGE_KEY: 'other_secret' })
  expect(problems).toHaveLength(2)
  expect(problems.join()).toMatch(/MCP_BRIDGE_URL.*\/v1\/sandbox\/<id>\/mcp.*MCP_BRIDGE_KEY.*svc_/s)
  expect(problems.join()).not.toContain('other_secret')
  expect(problemsOf([], {}).join()).toMatch(/MCP_BRIDGE_URL.*MCP_BRIDGE_KEY/s)
})

test('a key is refused as an argument, where any process could read it', () => {
  expect(problemsOf(['--key', MCP_BRIDGE_KEY], { MCP_BRIDGE_URL }).join()).toContain("'--key'")
})
