import { expect } from 'vitest'
import { baselines, notScored } from './src/mcp/conformance-baseline.ts'
import { openHeaderProxy } from './src/mcp/header-proxy.ts'
import { runConformance, runScenario } from './src/mcp/run-conformance.ts'
import { mcpTest } from './src/mcp/mcp-test.ts'

// The official suite against three replicas in rotation: any replica can answer any request.

const test = mcpTest.extend('proxy', { scope: 'file' }, async ({ tenant }, { onCleanup }) => {
  const replicas = [0, 1, 2].map((gateway) => tenant.at(tenant.sandboxes.echo, gateway))
  const proxy = await openHeaderProxy(replicas, tenant.authorization)
  onCleanup(proxy.close)
  return proxy
})

// spec: 4.4/s2
test.for(Object.keys(baselines))('the server conforms to protocol revision %s', async (revision, { proxy }) => {
  const baseline = Object.keys(baselines[revision]!)
  const { exitCode, checks, said } = await runConformance(proxy.url, revision, baseline)
  const failed = checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .filter(({ scenario }) => !scenario.startsWith('tasks-') && notScored[scenario] === undefined)
    .map(({ scenario, id }) => `${scenario}:${id}`)
  expect(failed.toSorted()).toEqual(baseline.toSorted())
  expect({ exitCode, said: exitCode === 0 ? '' : said.slice(-4_000) }).toEqual({ exitCode: 0, said: '' })

  const onTheWire = checks.filter(({ id }) => id === 'wire-schema-valid')
  expect(onTheWire.length).toBeGreaterThan(20)
  expect(onTheWire.filter(({ status }) => status !== 'SUCCESS')).toEqual([])
})

// The suite calls tools of its fixture server. A flow stands in for each tool with an equivalent.
const standIns: [scenario: string, tool: string, flow: 'echo' | 'picture' | 'speech', input: object][] = [
  ['tools-call-simple-text', 'test_simple_text', 'echo', { topic: 'Rain' }],
  ['tools-call-image', 'test_image_content', 'picture', { prompt: 'Rain' }],
  ['tools-call-audio', 'test_audio_content', 'speech', { text: 'Rain' }],
  ['tools-call-error', 'test_error_handling', 'echo', { topic: 4 }],
  ['tools-call-with-progress', 'test_tool_with_progress', 'echo', { topic: 'Rain' }],
]

test.for(Object.keys(baselines).flatMap((revision) => standIns.map((standIn) => [revision, ...standIn] as const)))(
  'the %s scenario %s passes with a flow as its tool',
  async ([revision, scenario, tool, flow, input], { tenant, onTestFinished }) => {
    const at = tenant.at(tenant.sandboxes[flow])
    const proxy = await openHeaderProxy([at], tenant.authorization, { [tool]: { at, arguments: input } })
    onTestFinished(proxy.close)
    const { checks } = await runScenario(proxy.url, revision, scenario)
    const result = checks.map(({ id, status, message }) => `${id}: ${status} ${message}`.trim())
    expect(result.toSorted()).toEqual([`${scenario}: SUCCESS`, 'wire-schema-valid: SUCCESS'])
  },
)

test('every expected conformance failure has a reason, and none concerns the wire schema', () => {
  for (const [entry, reason] of Object.values(baselines).flatMap((baseline) => Object.entries(baseline))) {
    expect(entry).toMatch(/^[a-z0-9-]+:[a-z0-9-]+$/) // a single check: the rest of its scenario must still pass
    expect(entry).not.toContain('wire-schema')
    expect(reason).toMatch(/^(calls a tool of the fixture server|needs )/)
  }
})
