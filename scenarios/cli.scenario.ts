import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished } from 'vitest'
import type { ExecutionDetail, ProgressLine } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'
import { startFaultProxy, type FaultProxy } from '@gateway/testbed/fault-proxy'
import { commands } from '@gateway/cli/command-table'
import { readDocBlocks } from './src/guides/doc-blocks.ts'
import { missingForGuides } from './src/guides/is-there.ts'
import type { CommandLine } from './src/command-line/open-command-line.ts'
import { commandLineTest as test } from './src/command-line/command-line-test.ts'
import { expectPaidOnce } from './src/paid-once.ts'

// The published `gateway` command against the whole service.

interface Server {
  command: string
  args: string[]
  env: Record<string, string>
}

/** Command line that prepares the examples of a command, by command name. */
const preparations: Readonly<Record<string, string>> = {
  'flows pull': 'gateway flows pull',
  'flows diff': 'gateway flows pull',
  'flows push': 'gateway flows pull && sed -i "s/: 40/: 30/" summary.flow.json',
  'flows activate': 'gateway flows pull',
  'flows types': 'gateway flows pull',
  'flows run': 'gateway flows pull',
  'flows estimate': 'gateway flows pull',
}

const examples = commands.flatMap(({ name, examples }) => examples.map((line) => [line, name] as const))

test.for(examples)('the help example `%s` works', async ([example, name], { line }) => {
  const prepared = await line.shell(preparations[name] ?? ':')
  expect(prepared).toMatchObject({ code: 0 })
  const ended = await line.shell(example, { input: '' })
  expect(ended).toEqual({ ...ended, code: 0 })
  expect(ended.output + ended.words).not.toContain(line.token)
  if (!example.includes('--json')) return
  for (const one of ended.output.split('\n').filter(Boolean)) expect(() => JSON.parse(one)).not.toThrow()
})

test('--help lists every command, and the help of each command shows its examples', async ({ line }) => {
  const all = await line.shell('gateway --help')
  for (const { name, examples } of commands) {
    expect(all.output).toContain(name)
    const { code, output, words } = await line.shell(`gateway ${name} --help`)
    expect([name, code, words]).toEqual([name, 0, ''])
    for (const example of examples) expect(output).toContain(example)
  }
})

test('login stores a profile that only its owner can read, and logout removes it', async ({ line }) => {
  const isSignedIn = false
  const asked = await line.shell('gateway login --url https://gateway.example --token-stdin < token.txt', {
    isSignedIn,
  })
  expect(asked.code).toBe(0)
  expect(asked.output + asked.words).not.toContain(line.token)
  const kept = path.join(line.home, '.config/gateway/profiles.json')
  expect((await stat(kept)).mode & 0o777).toBe(0o600)
  expect((await line.shell('gateway keys list', { isSignedIn })).output).toContain(line.key.id)
  const elsewhere = await line.shell('gateway keys list', { isSignedIn, env: { GATEWAY_URL: 'http://127.0.0.1:9' } })
  expect(elsewhere).toMatchObject({ code: 3, words: expect.stringContaining('is for') as string })
  expect((await line.shell('gateway logout', { isSignedIn })).code).toBe(0)
  expect(await readFile(kept, 'utf8')).not.toContain(line.token)
  expect((await line.shell('gateway keys list', { isSignedIn })).code).toBe(3)
})

test.for([
  ['gateway keys lsit', 2, 'gateway keys list'],
  ['gateway keys revoke', 2, 'gateway keys revoke <key>'],
  ['gateway keys list --stat Active', 2, 'gateway keys list'],
  ['gateway keys list --state active', 2, 'Revoked'],
  ['gateway keys create x --limit 5', 2, '5/day'],
  ['gateway keys create x --limit 0.0000001/day', 2, 'six decimal places'],
  ['gateway keys revoke key_example', 2, '--yes'],
  ['gateway keys check key_example', 2, '--model'],
  ['gateway login --url https://gateway.example', 2, '--token-stdin'],
  ['GATEWAY_URL= gateway login', 3, 'gateway login --url https://'],
  ['gateway keys revoke key_none --yes', 1, 'Request: '],
  ['GATEWAY_URL=http://127.0.0.1:9 gateway whoami', 1, 'GATEWAY_URL'],
  ['GATEWAY_TOKEN= gateway whoami', 3, 'gateway login'],
  ['GATEWAY_TOKEN=svu_wrong gateway whoami', 3, 'gateway login'],
] as const)('`%s` exits with %i and prints a resolution', async ([asked, code, says], { line }) => {
  const ended = await line.shell(asked)
  expect(ended).toMatchObject({ code, output: '', words: expect.stringContaining(says) as string })
  expect(ended.words).toContain('Resolution: ')
})

test('a key is made with a tag, renamed, paused, resumed and revoked', async ({ line }) => {
  const made = await line.shell('gateway keys create Nightly --tag nightly --json | tee made.json | jq -r .key')
  const id = made.output.trim()
  const say = async (command: string) =>
    (await line.shell(`gateway keys ${command} --json | jq -r '.name + " " + .state'`)).output.trim()
  expect(await say(`rename ${id} 'Every night'`)).toBe('Every night Active')
  expect(await say(`pause ${id}`)).toBe('Every night Paused')
  const check = `GATEWAY_KEY=$(jq -r .secret made.json) gateway keys check --model acme/none`
  expect((await line.shell(check)).words).toContain('key_paused')
  expect(await say(`resume ${id}`)).toBe('Every night Active')
  expect(await say(`revoke ${id} --yes`)).toBe('Every night Revoked')
  expect((await line.shell(`gateway keys list --state Revoked --json | jq -r .tag`)).output).toContain('nightly')
})

test('keys create --write-env writes a key to a file only its owner can read, never overwrites it, and refuses a file that git does not ignore', async ({
  line,
}) => {
  const made = await line.shell('gateway keys create Local --write-env .env')
  expect(made.code).toBe(0)
  expect(made.output + made.words).not.toMatch(/svc_/)
  expect(made.words).toContain('ends with your personal token')
  const file = path.join(line.folder, '.env')
  expect(await readFile(file, 'utf8')).toMatch(/^GATEWAY_KEY=svc_\w+\n$/)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const before = (await line.shell('gateway keys list')).output.split('\n').length
  expect(await line.shell('gateway keys create Local --write-env .env')).toMatchObject({ code: 2 })
  const inGit = await line.shell('git init -q . && gateway keys create Local --write-env other.env')
  expect(inGit).toMatchObject({ code: 2, words: expect.stringContaining('.gitignore') as string })
  expect((await line.shell('gateway keys list')).output.split('\n')).toHaveLength(before)
})

const change = (line: CommandLine, from: string, to: string) =>
  line.shell(`sed -i '0,/${from}/s//${to}/' summary.flow.json`)
const latest = async ({ user, at, sandbox }: CommandLine) =>
  (await user.ask('GET', `${at}/sandboxes/${sandbox}`)).body as { latestRevision: number; activeRevision: number }

/** Saves a revision as another user would, with a lower max_tokens at the given node. */
async function saveElsewhere({ user, at, sandbox }: CommandLine, node: string): Promise<void> {
  const { graph } = (await user.ask('GET', `${at}/sandboxes/${sandbox}/revisions/1`)).body as { graph: Graph }
  const nodes = graph.nodes.map((one) => (one.id === node ? { ...one, params: { max_tokens: 7 } } : one))
  const saved = await user.ask('POST', `${at}/sandboxes/${sandbox}/revisions`, { graph: { ...graph, nodes } })
  expect(saved.status).toBe(201)
}

test('flows pull, diff, push, activate and run work on a flow kept in git', async ({ line }) => {
  const pulled = await line.shell('git init -q . && gateway flows pull && git add -A && git status --short')
  expect(pulled).toMatchObject({ code: 0 })
  expect(pulled.output).toContain('A  summary.flow.json')
  expect(pulled.output).toContain('A  gateway.lock.json')
  expect((await line.shell('gateway flows pull && git diff --exit-code')).code).toBe(0)
  await change(line, '"max_tokens": 40', '"max_tokens": 30')
  expect((await line.shell('gateway flows diff')).output).toContain('node draft: changed here')
  const pushed = await line.shell('gateway flows push --check && gateway flows push && gateway flows activate summary')
  expect([pushed.code, pushed.words]).toEqual([0, expect.any(String)])
  expect(await latest(line)).toMatchObject({ latestRevision: 2, activeRevision: 2 })
  const estimated = await line.shell(`gateway flows estimate summary --input '{"prompt":"Rain"}'`)
  expect(estimated.output).toMatch(/^revision +2$/m)
  const ran = await line.shell(`gateway flows run summary --input '{"prompt":"Rain"}'`)
  expect(ran).toMatchObject({ code: 0, words: expect.stringContaining('revision 2') as string })
  expect(JSON.parse(ran.output)).toEqual({ text: expect.any(String) as string })
  const dollars = (text: string, pattern: RegExp) => Number(pattern.exec(text)![1])
  const charged = dollars(ran.words, /Succeeded, \$?([\d.]+)/)
  expect(charged).toBeGreaterThan(0)
  expect(dollars(estimated.output, /^at most +\$?([\d.]+)/m)).toBeGreaterThanOrEqual(charged)
})

test('flows run follows an execution over cut connections: each line once, one execution, one charge', async ({
  line,
  stack,
}) => {
  const { hostname, port, href } = new URL(stack.gateways[0]!.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(proxy.close)
  await stack.provider.control.setFaults([{ latencyMs: 1_500 }])
  onTestFinished(() => stack.provider.control.setFaults([]))
  const isOver = new AbortController()
  const cuts = cutUntil(proxy, isOver.signal)
  const command = `gateway flows run ${line.sandbox} --input '{"prompt":"Rain"}' --json`
  const ran = await line.shell(command, { env: { GATEWAY_URL: proxy.through(href) } })
  isOver.abort()
  expect(ran).toMatchObject({ code: 0 })
  expect(await cuts).toBeGreaterThan(3)
  const lines = ran.output
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as ProgressLine)
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at))
  const last = lines.at(-1)!
  const { body } = await line.user.ask('GET', `${line.at}/sandboxes/${line.sandbox}/executions`)
  expect(body.data).toMatchObject([last.kind === 'complete' && { id: last.execution.id }, { id: line.execution }])
  expect(body.data[0].chargedMicro).toBeGreaterThan(0)
  await expectPaidOnce(stack, line.project.id, await Promise.all([body.data[0].id, line.execution].map(recordOf)))

  async function recordOf(id: string): Promise<ExecutionDetail> {
    return (await line.user.ask('GET', `${line.at}/projects/${line.project.id}/executions/${id}`)).body
  }
})

/** Cuts open connections twice a second for up to ten seconds. Returns how often a connection was open. */
async function cutUntil(proxy: FaultProxy, isOver: AbortSignal): Promise<number> {
  let cuts = 0
  for (let times = 0; times < 20 && !isOver.aborted; times++) {
    await wait(500)
    if (proxy.connections > 0) cuts++
    proxy.reset()
  }
  return cuts
}

test('flows push refuses to overwrite a newer revision and shows both changes; pull --merge keeps both', async ({
  line,
}) => {
  await line.shell('gateway flows pull')
  await saveElsewhere(line, 'polish')
  await change(line, '"max_tokens": 40', '"max_tokens": 30')
  const pushed = await line.shell('gateway flows push summary')
  expect(pushed).toMatchObject({ code: 1 })
  expect(pushed.words).toContain('node polish: changed on the gateway')
  expect(pushed.words).toContain('node draft: changed here')
  expect((await latest(line)).latestRevision).toBe(2)
  expect((await line.shell('gateway flows pull')).code).toBe(1)
  const merged = await line.shell('gateway flows pull --merge && gateway flows push summary')
  expect([merged.code, merged.words]).toEqual([0, expect.any(String)])
  const { body } = await line.user.ask('GET', `${line.at}/sandboxes/${line.sandbox}/revisions/3`)
  expect(body.graph.nodes).toMatchObject([{}, { params: { max_tokens: 30 } }, { params: { max_tokens: 7 } }, {}])
})

test('flows push without a lock file adopts an empty flow of the same name and refuses to touch a saved one', async ({
  line,
}) => {
  const flowsOf = async () => {
    const { body } = await line.user.ask('GET', `${line.at}/projects/${line.project.id}/sandboxes`)
    return (body as { data: { id: string; latestRevision: number }[] }).data
  }
  const { body: empty } = await line.user.ask('POST', `${line.at}/projects/${line.project.id}/sandboxes`, {
    name: 'Weekly report',
  })
  const pushed = await line.shell('gateway flows init weekly-report && gateway flows push weekly-report --draft')
  expect(pushed).toMatchObject({ code: 0, words: expect.stringContaining(empty.id as string) as string })
  const before = await flowsOf()
  expect(before.map(({ latestRevision }) => latestRevision)).toEqual([1, 1])

  const again = await line.shell('rm gateway.lock.json && gateway flows push weekly-report --draft')
  expect(again).toMatchObject({ code: 1, words: expect.stringContaining('gateway flows pull') as string })
  expect(await flowsOf()).toEqual(before)
})

test('flows pull --merge refuses a node changed on both sides until --take picks one', async ({ line }) => {
  await line.shell('gateway flows pull')
  await saveElsewhere(line, 'draft')
  await change(line, '"max_tokens": 40', '"max_tokens": 30')
  const file = path.join(line.folder, 'summary.flow.json')
  const before = await readFile(file, 'utf8')
  const merged = await line.shell('gateway flows pull --merge')
  expect(merged).toMatchObject({ code: 1, words: expect.stringContaining('--take mine') as string })
  expect(await readFile(file, 'utf8')).toBe(before)
  expect((await line.shell('gateway flows pull --merge --take theirs')).code).toBe(0)
  expect(JSON.parse(await readFile(file, 'utf8')).nodes[1].params).toEqual({ max_tokens: 7 })
})

test('flows push --check reports problems with file and line, offline and without a token', async ({ line }) => {
  await line.shell('gateway flows pull')
  const offline = { isSignedIn: false, env: { GATEWAY_URL: 'http://127.0.0.1:9' } }
  const check = () => line.shell('gateway flows push --check', offline)
  expect(await check()).toMatchObject({ code: 0 })
  const file = path.join(line.folder, 'summary.flow.json')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('draft.prompt', 'draft.promt'))
  // An edge starts two lines above its end; line numbers start at 1.
  const at = -1 + text.split('\n').findIndex((one) => one.includes('draft.prompt'))
  const wrong = await check()
  expect(wrong).toMatchObject({ code: 1, output: '' })
  expect(wrong.words).toContain(`summary.flow.json:${at}:5: port_unknown`)
  await writeFile(file, text.replace('"nodes": [', '"nodes": [,'))
  expect(await check()).toMatchObject({
    code: 1,
    words: expect.stringMatching(/^summary\.flow\.json:\d+:13: invalid_json/) as string,
  })
})

test('flows pull writes a flow with a hostile name inside its folder only', async ({ line }) => {
  for (const name of ['../../escape', '/etc/escape', '..', 'con\u202Efolw', '-rf'])
    await line.user.ask('POST', `${line.at}/projects/${line.project.id}/sandboxes`, { name })
  const { body } = await line.user.ask('GET', `${line.at}/projects/${line.project.id}/sandboxes`)
  const { body: revision } = await line.user.ask('GET', `${line.at}/sandboxes/${line.sandbox}/revisions/1`)
  for (const { id } of (body as { data: { id: string }[] }).data)
    await line.user.ask('POST', `${line.at}/sandboxes/${id}/revisions`, {
      graph: (revision as { graph: Graph }).graph,
    })
  const outside = await readdir(line.home)
  const pulled = await line.shell('mkdir flows && gateway flows pull --dir flows')
  expect(pulled).toMatchObject({ code: 0 })
  expect(await readdir(line.home)).toEqual(outside)
  expect((await readdir(line.folder)).toSorted()).toEqual(['flows', 'token.txt'])
  const files = await readdir(path.join(line.folder, 'flows'))
  expect(files).toHaveLength(7)
  for (const file of files) expect(file).toMatch(/^[a-z0-9][a-z0-9-]*\.(flow|lock)\.json$/)
  expect(await line.shell('gateway flows push ../token')).toMatchObject({ code: 2 })
  await line.shell(`sed -i 's/"escape"/"..\\/escape"/' flows/gateway.lock.json`)
  expect(await line.shell('gateway flows pull --dir flows')).toMatchObject({ code: 1 })
})

test('mcp install adds a flow to a client, keeps its other settings, and keeps the key out of the settings file', async ({
  line,
}) => {
  const file = path.join(line.home, '.cursor/mcp.json')
  const mine = '{ "theme": "dark", "mcpServers": { "mine": { "command": "mine" } } }'
  await line.shell(`mkdir -p ~/.cursor && echo '${mine}' > ~/.cursor/mcp.json`)
  const install = 'gateway mcp install sbx-example --client cursor'
  const asked = await line.shell(install)
  expect(asked).toMatchObject({ code: 2, words: expect.stringContaining('+ "summary": {') as string })
  expect(await readFile(file, 'utf8')).toBe(`${mine}\n`)
  const installed = await line.shell(`${install} --yes`)
  expect(installed).toMatchObject({ code: 0 })
  expect(await readFile(`${file}.backup`, 'utf8')).toBe(`${mine}\n`)
  const text = await readFile(file, 'utf8')
  expect(text + installed.output + installed.words).not.toContain(line.key.secret)
  const { theme, mcpServers } = JSON.parse(text) as { theme: string; mcpServers: Record<string, Server> }
  expect([theme, mcpServers['mine']]).toEqual(['dark', { command: 'mine' }])
  const { command, args, env } = mcpServers['summary']!
  expect((await stat(env['MCP_BRIDGE_KEY_FILE']!)).mode & 0o777).toBe(0o600)
  const started = new Client({ name: 'scenario', version: '1' })
  await started.connect(
    new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...env }, stderr: 'pipe' }),
  )
  expect((await started.listTools()).tools).toMatchObject([{ name: 'invoke_product' }])
  await started.close()
  await line.shell('echo "{ // mine" > ~/.cursor/mcp.json')
  expect(await line.shell(`${install} --yes`)).toMatchObject({ code: 1 })
  expect(await readFile(file, 'utf8')).toBe('{ // mine\n')
})

test('docs/flows-in-ci.md works as written for a user of two projects, and with a service token', async ({
  line,
  stack,
  skip,
}) => {
  const missing = await missingForGuides()
  if (missing !== null) skip(`${missing} is not installed`)
  const { tenant, id: project } = line.project
  expect((await line.user.ask('POST', `${line.at}/projects`, { name: 'Second' })).status).toBe(201)
  const { secret } = await stack.fixture.accessToken({ tenant, project, permissions: ['sandboxes.use'] })
  const author = { NAME: 'Ada', EMAIL: 'ada@example.test' }
  const git = Object.fromEntries(
    Object.entries(author).flatMap(([name, value]) => [
      [`GIT_AUTHOR_${name}`, value],
      [`GIT_COMMITTER_${name}`, value],
    ]),
  )
  const blocks = await readDocBlocks(path.join(import.meta.dirname, '../docs/flows-in-ci.md'))
  expect(blocks).toHaveLength(5)
  for (const [at, { title, text }] of blocks.entries()) {
    const env = { ...git, GATEWAY_TOKEN: at < 3 ? line.token : secret }
    const ended = await line.shell(text.replaceAll('prj_your_project', project), { env })
    expect({ title, ...ended }).toMatchObject({ title, code: 0 })
  }
  const { body } = await line.user.ask('GET', `${line.at}/projects/${project}/sandboxes`)
  const written = (body as { data: { name: string }[] }).data.find(({ name }) => name === 'note')
  expect(written).toMatchObject({ latestRevision: 2, activeRevision: 2 })
  const { output } = await line.shell('git log --format=%s && git status --porcelain flows/note.flow.json')
  expect(output).toBe('Activate the short note\nShorten the note\nAdd the flow note\n')
})

test('a project service token makes --project unnecessary', async ({ line, stack }) => {
  const { tenant, id: project } = line.project
  const ofProject = await stack.fixture.accessToken({ tenant, project, permissions: ['sandboxes.use', 'wallet.read'] })
  const env = { GATEWAY_TOKEN: ofProject.secret }
  const who = await line.shell('gateway whoami', { env })
  expect(who).toMatchObject({ code: 0, words: '' })
  for (const shown of [tenant, project, 'a service token with sandboxes.use, wallet.read'])
    expect(who.output).toContain(shown)
  for (const command of ['gateway wallet', 'gateway executions list'])
    expect(await line.shell(command, { env })).toMatchObject({ code: 0, words: '' })

  const ofTenant = await stack.fixture.accessToken({ tenant, project: null, permissions: ['keys.manage'] })
  const whole = { GATEWAY_TOKEN: ofTenant.secret }
  const unnamed = await line.shell('gateway keys list', { env: whole })
  expect(unnamed).toMatchObject({ code: 1, words: expect.stringContaining('--project prj_') as string })
  const named = await line.shell(`gateway keys list --project ${project}`, { env: whole })
  expect(named).toMatchObject({ code: 0, output: expect.stringContaining(line.key.id) as string })
})

test('the packed command runs from an empty folder', async ({ line, program }) => {
  const packed = path.join(line.home, 'package')
  await mkdir(path.join(packed, 'dist'), { recursive: true })
  await cp(path.join(import.meta.dirname, '../clients/cli/package.json'), path.join(packed, 'package.json'))
  await cp(program, path.join(packed, 'dist/gateway.js'))
  const pack =
    'npm pack --ignore-scripts --silent --pack-destination .. > /dev/null && cd .. && mkdir empty && cd empty'
  const ended = await line.shell(
    `cd ../package && ${pack} && tar -xzf ../gateway-cli-0.1.0.tgz && find . -type f | sort`,
  )
  expect(ended).toMatchObject({ code: 0, output: './package/dist/gateway.js\n./package/package.json\n' })
  const said = await line.shell('node ../empty/package/dist/gateway.js whoami')
  expect(said).toMatchObject({ code: 0, output: expect.stringContaining(line.project.id) as string })
})
