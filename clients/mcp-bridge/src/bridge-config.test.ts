import { expect, test } from 'vitest'
import { ConfigurationError } from '@gateway/service-kit/process/config'
import { readBridgeConfig } from './bridge-config.ts'

const MCP_BRIDGE_URL = 'https://gateway.example/v1/sandbox/sbx-1/mcp'
const MCP_BRIDGE_KEY = 'svc_secret'

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readBridgeConfig(env)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems
  }
  throw new Error('nothing was wrong')
}

test('readBridgeConfig takes the address and the key from the environment', () => {
  expect(readBridgeConfig({ MCP_BRIDGE_URL, MCP_BRIDGE_KEY })).toEqual({
    url: new URL(MCP_BRIDGE_URL),
    key: MCP_BRIDGE_KEY,
    retryMs: 1_200_000,
  })
})

test('all problems are reported at once, by name and without the key', () => {
  const problems = problemsOf({ MCP_BRIDGE_URL: 'https://gateway.example/mcp', MCP_BRIDGE_KEY: 'other_secret' })
  expect(problems).toHaveLength(2)
  expect(problems.join()).toMatch(/MCP_BRIDGE_URL.*\/v1\/sandbox\/<id>\/mcp.*MCP_BRIDGE_KEY.*svc_/s)
  expect(problems.join()).not.toContain('other_secret')
  expect(problemsOf({}).join()).toMatch(/MCP_BRIDGE_URL.*MCP_BRIDGE_KEY/s)
})
