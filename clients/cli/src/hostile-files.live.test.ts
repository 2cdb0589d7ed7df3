import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect } from 'vitest'
import { json, refusal, type Step } from '@gateway/api-client/scripted-server'
import { newGraph } from '@gateway/flow/new-graph'
import { builtTest as test } from './built-command.fixture.ts'
import { digestOf } from './flows/flow-folder.ts'

// Flow files and secret files as editors, merges and full disks leave them. A file that can't be written is simulated
// by a folder that takes its name: a full disk fails at the same point.

const LOCK = 'gateway.lock.json'
const lockOf = (flows: object) => JSON.stringify({ organization: 'ten_1', project: 'prj_1', flows })
const one = (more: object = {}) => lockOf({ a: { sandbox: 'sbx-1', revision: 1, digest: null, ...more } })
const flow = JSON.stringify(newGraph)
const sandbox = { id: 'sbx-1', name: 'a', latestRevision: 2, activeRevision: null, mcpEnabled: false, suspended: false }
const revision = { number: 2, graph: newGraph, problems: [] }
const problem = { code: 'product_not_assigned', node: null, port: null, message: 'M.', resolution: 'R.' }
const digest = digestOf(newGraph)
const mine = { ...newGraph, nodes: newGraph.nodes.map((node) => ({ ...node, title: 'Mine' })) }
const other = { ...newGraph, nodes: newGraph.nodes.map((node) => ({ ...node, title: 'New' })) }
const sandboxOf = (name: string) => ({ ...sandbox, id: `sbx-${name}`, name })
const conflict = refusal('revision_conflict', 409, { 'x-should-retry': 'false' })
const page = (...data: object[]) => json({ data, nextCursor: null })
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8)
/** Writes files and a lock file of flows with these graphs, last seen at revision 1. */
async function writeFlows(folder: string, graphs: Record<string, object>) {
  const names = Object.keys(graphs)
  const lock = Object.fromEntries(names.map((name) => [name, { sandbox: `sbx-${name}`, revision: 1, digest }]))
  await writeFile(path.join(folder, LOCK), lockOf(lock))
  for (const name of names) await writeFile(path.join(folder, `${name}.flow.json`), JSON.stringify(graphs[name]))
}
/** Responds after a folder has taken the name of this file. */
const takeName =
  (file: string, step: Step): Step =>
  (res, req) =>
    void rm(file, { force: true })
      .then(() => mkdir(path.join(file, 'full'), { recursive: true }))
      .then(() => step(res, req))

describe('the CLI reports a faulty lock file, with its line if known:', () => {
  test.for([
    ['conflicts', `{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}`, 'merge conflicts.*higher revision'],
    ['a revision that is not a number', one({ revision: '1' }), `${LOCK}:1`],
    ['a field of a newer command', `{"version":2,\n${one().slice(1)}`, 'newer version of this command'],
    ['a flow that leads out of the folder', lockOf({ '../a': {} }), `${LOCK}:1`],
    [
      'the same product twice',
      lockOf(Object.fromEntries(['a', 'b'].map((name) => [name, { sandbox: 'sbx-1', revision: 1, digest: null }]))),
      'Two files',
    ],
    ['not JSON', '{', `${LOCK}:1`],
  ])('%s', async ([, text, says], { line, server }) => {
    await writeFile(path.join(line.folder, LOCK), text!)
    const ended = await line.ask('gateway flows push')
    expect(ended).toMatchObject({ code: 1, words: expect.stringMatching(new RegExp(says!, 's')) as string })
    expect(await readFile(path.join(line.folder, LOCK), 'utf8')).toBe(text)
    expect(server.requests).toEqual([])
  })
})

describe('gateway flows push --check', () => {
  test.for<[string, string, number, string]>([
    ['reports a number that JSON cannot represent', flow.replace(/"x":0/, '"x":1e999'), 1, 'too large'],
    ['reports a file larger than the gateway accepts', `["${'x'.repeat(5_000_000)}"]`, 1, 'larger than'],
    ['accepts a file with a byte order mark', `\uFEFF${flow}`, 0, 'No problems'],
    ['accepts CRLF line endings', flow.replaceAll(',', ',\r\n'), 0, 'No problems'],
  ])('%s', async ([, text, code, says], { line }) => {
    await writeFile(path.join(line.folder, 'a.flow.json'), text)
    const ended = await line.ask('gateway flows push --check')
    expect(ended).toMatchObject({ code, words: expect.stringContaining(says) as string })
  })

  test('reports a missing folder, an ignored file, and a missing file', async ({ line }) => {
    expect(await line.ask('gateway flows push --check --dir flws')).toMatchObject({
      code: 2,
      words: expect.stringContaining('--dir') as string,
    })
    await writeFile(path.join(line.folder, 'Summary.flow.json'), flow)
    await writeFile(path.join(line.folder, LOCK), one())
    const { code, words } = await line.ask('gateway flows push --check')
    expect(code).toBe(1)
    expect(words).toContain('Summary.flow.json is ignored')
    expect(words).toContain('gateway flows pull a')
  })
})

describe('gateway flows push', () => {
  test('finds the revision saved by an interrupted push', async ({ line, server }) => {
    await writeFile(path.join(line.folder, 'a.flow.json'), flow)
    await writeFile(path.join(line.folder, LOCK), one())
    server.answers(conflict, json(sandbox), json(revision))
    expect(await line.ask('gateway flows push')).toMatchObject({
      code: 0,
      words: expect.stringContaining('a.flow.json already matches revision 2') as string,
    })
    expect(await readFile(path.join(line.folder, LOCK), 'utf8')).toContain('"revision": 2')
  })

  test('refuses an unchanged file if a newer revision was saved in the meantime', async ({ line, server }) => {
    await writeFile(path.join(line.folder, 'a.flow.json'), flow)
    await writeFile(path.join(line.folder, LOCK), one({ digest }))
    server.answers(json(sandbox), json({ ...revision, graph: other }), json({ ...revision, number: 1 }))
    expect(await line.ask('gateway flows push')).toMatchObject({
      code: 1,
      words: expect.stringMatching(
        /based on revision 1, and revision 2 was saved.*gateway flows pull a --merge/s,
      ) as string,
    })
    expect(await readFile(path.join(line.folder, LOCK), 'utf8')).toContain('"revision":1')
  })

  test('fails for the problems of a saved revision on each push, until it is activated', async ({ line, server }) => {
    await writeFile(path.join(line.folder, 'a.flow.json'), flow)
    await writeFile(path.join(line.folder, LOCK), one())
    const saved = { ...revision, problems: [problem, { ...problem, code: 'product_kind' }] }
    const words = /product_not_assigned: M\. R\..*product_kind: M\. R\./s
    const reported = { code: 1, words: expect.stringMatching(words) as string }
    server.answers(json(saved, 201))
    expect(await line.ask('gateway flows push')).toMatchObject(reported)
    server.answers(json(sandbox), json(saved))
    expect(await line.ask('gateway flows push')).toMatchObject(reported)
    server.answers(json(sandbox), json(saved))
    expect(await line.ask('gateway flows push --draft')).toMatchObject({ ...reported, code: 0 })
    server.answers(json({ ...sandbox, activeRevision: 2 }), json(saved))
    expect(await line.ask('gateway flows push')).toMatchObject({
      code: 0,
      words: expect.not.stringContaining('product_kind') as string,
    })
  })

  describe('fails for an unassigned product only when it saves the revision, because activation checks again:', () => {
    const saved = { ...revision, problems: [problem] }
    const noted = {
      code: 0,
      words: expect.stringMatching(
        /:\d+:\d+: product_not_assigned: M\. R\..*gateway flows activate a checks/s,
      ) as string,
    }

    test('a pipeline pushes again and activates, with or without the new lock file', async ({ line, server }) => {
      await writeFile(path.join(line.folder, 'a.flow.json'), flow)
      await writeFile(path.join(line.folder, LOCK), one())
      server.answers(json(saved, 201))
      expect(await line.ask('gateway flows push')).toMatchObject({ code: 1 })
      server.answers(json(sandbox), json(saved))
      expect(await line.ask('gateway flows push')).toMatchObject(noted)
      await writeFile(path.join(line.folder, LOCK), one())
      server.answers(conflict, json(sandbox), json(saved))
      expect(await line.ask('gateway flows push')).toMatchObject(noted)
      server.answers(json(sandbox), json({ ...sandbox, activeRevision: 2 }))
      expect(await line.ask('gateway flows activate a')).toMatchObject({ code: 0 })
      expect(server.requests.at(-1)!.url).toContain('/revisions/2/activate')
    })

    test('a revision that was activated and then rolled back', async ({ line, server }) => {
      await writeFile(path.join(line.folder, 'a.flow.json'), flow)
      await writeFile(path.join(line.folder, LOCK), one({ revision: 2, digest }))
      server.answers(json({ ...sandbox, activeRevision: 1 }), json(saved))
      const ended = await line.ask('gateway flows push')
      expect(ended).toMatchObject(noted)
      expect(ended.words).not.toContain("can't be activated")
    })
  })

  describe('saves a changed flow after one that fails:', () => {
    const newer: Step[] = [json(sandboxOf('a')), json({ ...revision, graph: other }), json({ ...revision, number: 1 })]
    const invalid = { ...revision, number: 1, problems: [{ ...problem, code: 'product_kind' }] }
    test.for<[string, Step[], RegExp]>([
      [
        'a newer revision was saved',
        newer,
        /a\.flow\.json:\nnode in: .*a\.flow\.json is based on revision 1.*flows pull a --merge/s,
      ],
      [
        'its revision has problems',
        [json({ ...sandboxOf('a'), latestRevision: 1 }), json(invalid)],
        /Revision 1 of a can't be activated/,
      ],
      ['its sandbox product is gone', [refusal('not_found', 404)], /a\.flow\.json.*not_found.*req_1/s],
    ])('%s', async ([, steps, says], { line, server }) => {
      await writeFlows(line.folder, { a: newGraph, b: mine })
      server.answers(...steps, json({ ...revision, graph: mine }, 201))
      const { code, output, words } = await line.ask('gateway flows push --json')
      expect([code, output]).toEqual([1, '{"name":"b","sandbox":"sbx-b","revision":2}\n'])
      expect(words).toMatch(says)
      expect(server.requests.filter(({ method }) => method === 'POST').map(({ url }) => url)).toEqual([
        expect.stringContaining('/sbx-b/revisions'),
      ])
      const kept = JSON.parse(await readFile(path.join(line.folder, LOCK), 'utf8')) as { flows: object }
      expect(kept.flows).toMatchObject({ a: { revision: 1 }, b: { revision: 2 } })
    })

    test('several fail', async ({ line, server }) => {
      await writeFlows(line.folder, { a: newGraph, b: mine, c: newGraph })
      const gone = refusal('not_found', 404)
      server.answers(...newer, json({ ...revision, graph: mine }, 201), gone)
      const { code, words } = await line.ask('gateway flows push')
      expect(code).toBe(1)
      expect(words).toMatch(
        /b\.flow\.json is saved as revision 2.*2 flows failed:\na\.flow\.json is based.*\nc\.flow\.json:\nRefused, not_found/s,
      )
    })
  })

  test('names the saved revision if the lock file cannot be written', async ({ line, server }) => {
    await writeFile(path.join(line.folder, 'a.flow.json'), flow)
    await writeFile(path.join(line.folder, LOCK), one())
    server.answers(takeName(path.join(line.folder, LOCK), json(revision, 201)))
    const { code, words } = await line.ask('gateway flows push')
    expect(code).toBe(1)
    expect(words).toMatch(/saved as revision 2.*gateway\.lock\.json: .*Resolution: /s)
    expect((await readdir(line.folder)).toSorted()).toEqual(['a.flow.json', LOCK])
  })

  test('creates nothing if the lock file cannot be written', async ({ line, server }) => {
    await writeFile(path.join(line.folder, 'a.flow.json'), flow)
    const tenants = [{ id: 'ten_1', name: 'T', role: 'Owner', projects: [{ id: 'prj_1', name: 'P', role: 'Admin' }] }]
    server.answers(takeName(path.join(line.folder, LOCK), json({ id: 'usr_1', tenants })))
    const env = { GATEWAY_URL: server.url, GATEWAY_TOKEN: 'svu_1', GATEWAY_PROJECT: '' }
    expect(await line.ask('gateway flows push', env)).toMatchObject({ code: 1 })
    expect(server.requests.map(({ method }) => method)).toEqual(['GET'])
  })

  test('treats a flow named like a property of Object as a new flow', async ({ line, server }) => {
    server.answers(page(), json({ ...sandbox, id: 'sbx-2' }, 201), json({ ...revision, number: 1 }, 201), page())
    const pushed = await line.shell('gateway flows init constructor && gateway flows push constructor')
    expect(pushed).toMatchObject({ code: 0 })
    expect(await readFile(path.join(line.folder, LOCK), 'utf8')).toContain('"constructor"')
    expect(await line.ask('gateway flows run valueOf')).toMatchObject({
      code: 1,
      words: expect.stringContaining('There is no flow valueOf') as string,
    })
  })
})

describe('a flow whose first push failed after its product was created is not pushed:', () => {
  test.for(['run a', 'run sbx-1', 'estimate a', 'activate a'])('gateway flows %s', async (asked, { line, server }) => {
    await writeFile(path.join(line.folder, LOCK), one({ revision: 0 }))
    expect(await line.ask(`gateway flows ${asked}`)).toMatchObject({
      code: 1,
      words: expect.stringContaining('Push it: gateway flows push a') as string,
    })
    expect(server.requests).toEqual([])
  })

  test('another revision can be named', async ({ line, server }) => {
    await writeFile(path.join(line.folder, LOCK), one({ revision: 0 }))
    server.answers(json({}))
    expect(await line.ask('gateway flows activate a --revision 1')).toMatchObject({ code: 0 })
    expect(server.requests.map(({ url }) => url)).toEqual([expect.stringContaining('/revisions/1/activate')])
  })
})

test('gateway flows activate does not replace a newer active revision unless one is named', async ({
  line,
  server,
}) => {
  await writeFile(path.join(line.folder, LOCK), one({ digest }))
  server.answers(json({ ...sandbox, activeRevision: 2 }))
  expect(await line.ask('gateway flows activate a')).toMatchObject({
    code: 1,
    words: expect.stringMatching(/revision 2.*newer than revision 1.*gateway flows pull a.*--revision 1/is) as string,
  })
  server.answers(json({}))
  expect(await line.ask('gateway flows activate a --revision 1')).toMatchObject({ code: 0 })
  server.answers(json({ ...sandbox, activeRevision: 1 }), json({}))
  expect(await line.ask('gateway flows activate a')).toMatchObject({ code: 0 })
  expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(2)
})

test.for([
  ['one flow', ['a', 'b'], /a\.flow\.json has changes.*--merge/s],
  ['several flows', ['a', 'c', 'b'], /2 flows were not pulled.*a\.flow\.json has.*c\.flow\.json has.*--merge/s],
] as const)(
  'gateway flows pull updates the other files if %s changed on both sides',
  async ([, names, says], { line, server }) => {
    await writeFlows(line.folder, Object.fromEntries(names.map((name) => [name, name === 'b' ? newGraph : mine])))
    const answersFor = (name: string): Step[] => [
      json({ ...revision, graph: other }),
      ...(name === 'b' ? [] : [json({ ...revision, number: 1 })]),
    ]
    server.answers(page(...names.map(sandboxOf)), ...names.flatMap(answersFor))
    const { code, words } = await line.ask('gateway flows pull')
    expect([code, words]).toEqual([1, expect.stringMatching(says)])
    expect(JSON.parse(await readFile(path.join(line.folder, 'a.flow.json'), 'utf8'))).toEqual(mine)
    expect(JSON.parse(await readFile(path.join(line.folder, 'b.flow.json'), 'utf8'))).toEqual(other)
    const kept = JSON.parse(await readFile(path.join(line.folder, LOCK), 'utf8')) as { flows: object }
    expect(kept.flows).toMatchObject({ a: { revision: 1 }, b: { revision: 2 } })
  },
)

describe('gateway flows pull names a flow that both sides changed, and a later one', () => {
  const both = [json({ ...revision, graph: other }), json({ ...revision, number: 1 })]

  test('that the gateway refuses, and updates the rest', async ({ line, server }) => {
    await writeFlows(line.folder, { a: mine, b: newGraph, c: newGraph })
    const refused = refusal('unavailable', 503, { 'x-should-retry': 'false' })
    server.answers(page(...['a', 'b', 'c'].map(sandboxOf)), ...both, refused, json({ ...revision, graph: other }))
    const { code, words } = await line.ask('gateway flows pull')
    expect(code).toBe(1)
    expect(words).toMatch(/2 flows were not pulled.*a\.flow\.json has.*b\.flow\.json.*unavailable.*req_1/s)
    expect(JSON.parse(await readFile(path.join(line.folder, 'c.flow.json'), 'utf8'))).toEqual(other)
  })

  test.for<[string, (lock: string) => Step, number, RegExp]>([
    ['if the sign-in has ended', () => refusal('token_invalid', 401), 3, /b\.flow\.json.*token_invalid/s],
    ['if a proxy responds', () => json({}, 404), 1, /b\.flow\.json.*404/s],
    ['if the lock file cannot be written', (lock) => takeName(lock, json(revision)), 1, /gateway\.lock\.json: /],
  ])('at which it stops %s', async ([, step, code, says], { line, server }) => {
    await writeFlows(line.folder, { a: mine, b: newGraph, c: newGraph })
    server.answers(page(...['a', 'b', 'c'].map(sandboxOf)), ...both, step(path.join(line.folder, LOCK)))
    const ended = await line.ask('gateway flows pull')
    expect(ended).toMatchObject({ code, words: expect.stringMatching(says) as string })
    expect(ended.words).toMatch(/^Resolution: Merge both: gateway flows pull a --merge$/m)
    expect(server.requests).toHaveLength(4)
  })
})

test('gateway flows pull writes two products of the same name to separate files', async ({ line, server }) => {
  const other = { ...sandbox, id: 'sbx-2' }
  server.answers(page(sandbox, other), json(revision), json(revision))
  expect(await line.ask('gateway flows pull')).toMatchObject({ code: 0 })
  expect((await readdir(line.folder)).toSorted()).toEqual(['a-sbx-2.flow.json', 'a.flow.json', LOCK])
})

describe('gateway keys create --write-env', () => {
  const made = json({ key: { id: 'key_1' }, secret: 'svc_secret', resolution: null }, 201)

  test('keeps the other bytes of the file unchanged, also behind a link', async ({ line, server }) => {
    const kept = path.join(line.home, 'kept.env')
    await writeFile(kept, Buffer.from([0x41, 0x3d, 0xe9]))
    await symlink(kept, path.join(line.folder, '.env'))
    server.answers(made)
    expect(await line.ask('gateway keys create x --write-env .env')).toMatchObject({ code: 0 })
    const expected = Buffer.concat([Buffer.from([0x41, 0x3d, 0xe9]), Buffer.from('\nGATEWAY_KEY=svc_secret\n')])
    expect(await readFile(kept)).toEqual(expected)
    expect(await readdir(line.folder)).toEqual(['.env'])
  })

  test('reports a secret that cannot be stored, with the command to replace it', async ({ line, server }) => {
    const file = path.join(line.folder, '.env')
    server.answers(takeName(file, made))
    const { code, output, words } = await line.ask('gateway keys create x --write-env .env')
    expect([code, output]).toEqual([1, ''])
    expect(words).toMatch(/key_1 was created, but its secret is lost.*gateway keys rotate key_1 --write-env .env/s)
    expect(words).not.toContain('svc_secret')
    expect(await readdir(line.folder)).toEqual(['.env'])
  })

  test('keeps what was written to the file while the key was created', async ({ line, server }) => {
    const file = path.join(line.folder, '.env')
    await writeFile(file, 'A=1\n')
    server.answers((res, req) => void writeFile(file, 'A=1\nB=2\n').then(() => made(res, req)))
    expect(await line.ask('gateway keys create x --write-env .env')).toMatchObject({ code: 0 })
    expect(await readFile(file, 'utf8')).toBe('A=1\nB=2\nGATEWAY_KEY=svc_secret\n')
  })

  test('keeps a key that was written to the file meanwhile', async ({ line, server }) => {
    const file = path.join(line.folder, '.env')
    server.answers((res, req) => void writeFile(file, 'GATEWAY_KEY=svc_other\n').then(() => made(res, req)))
    const { code, words } = await line.ask('gateway keys create x --write-env .env')
    expect(code).toBe(1)
    expect(words).toMatch(/its secret is lost. .env already has a GATEWAY_KEY.*gateway keys rotate key_1/s)
    expect(await readFile(file, 'utf8')).toBe('GATEWAY_KEY=svc_other\n')
  })

  test('rotates nothing if the file has got a key before the confirmation', async ({ line, server }) => {
    const answer = () => writeFile(path.join(line.folder, '.env'), 'GATEWAY_KEY=svc_other\n').then(() => 'y')
    const ended = await line.ask('gateway keys rotate key_1 --write-env .env', undefined, { answer })
    expect(ended).toMatchObject({ code: 2, words: expect.stringContaining('already has a GATEWAY_KEY') as string })
    expect(server.requests).toEqual([])
  })

  test.for([
    ['a path below a file', 'touch a; gateway keys create x --write-env a/.env', 1, 'ENOTDIR'],
    [
      'a repository whose configuration git cannot read',
      'git init -q .; echo "[" > .git/config; gateway keys create x --write-env .env',
      2,
      "git can't tell",
    ],
    ['a new folder in a repository', 'git init -q .; gateway keys create x --write-env b/.env', 2, '.gitignore'],
  ] as const)('creates no key for %s', async ([, asked, code, says], { line, server }) => {
    expect(await line.shell(asked)).toMatchObject({ code, words: expect.stringContaining(says) as string })
    expect(server.requests).toEqual([])
  })
})

describe('gateway mcp install', () => {
  const install = 'gateway mcp install sbx-1 --client cursor --yes'
  const withKey = (url: string) => ({ GATEWAY_URL: url, GATEWAY_TOKEN: 'svu_1', GATEWAY_KEY: 'svc_1' })

  test('leaves settings unchanged if their servers are not an object', async ({ line, server }) => {
    const file = path.join(line.home, '.cursor/mcp.json')
    await mkdir(path.dirname(file))
    await writeFile(file, '{"mcpServers":["mine"]}')
    server.answers(json(sandbox))
    const ended = await line.ask(install, withKey(server.url))
    expect(ended).toMatchObject({ code: 1, words: expect.stringContaining('left unchanged') as string })
    expect(await readFile(file, 'utf8')).toBe('{"mcpServers":["mine"]}')
  })

  test('leaves settings alone that have changed before the confirmation', async ({ line, server }) => {
    const file = path.join(line.home, '.cursor/mcp.json')
    const changed = '{"mcpServers":{"other":{}}}'
    await mkdir(path.dirname(file))
    await writeFile(file, '{}')
    server.answers(json(sandbox))
    const answer = () => writeFile(file, changed).then(() => 'y')
    const ended = await line.ask(install.replace(' --yes', ''), withKey(server.url), { answer })
    expect(ended).toMatchObject({ code: 1, words: expect.stringContaining('has changed meanwhile') as string })
    expect(await readFile(file, 'utf8')).toBe(changed)
  })

  test('adds a flow next to another server of its name, and replaces its own', async ({ line, server }) => {
    const file = path.join(line.home, '.cursor/mcp.json')
    await mkdir(path.dirname(file))
    await writeFile(file, '{"mcpServers":{"a":{"command":"mine"}}}')
    server.answers(json(sandbox), json(sandbox))
    for (const says of ['a-sbx-1 will be added.', 'a-sbx-1 will be replaced.']) {
      const asked: string[] = []
      const answer = (question: string) => Promise.resolve(asked.push(question) > 0 ? 'y' : '')
      const ended = await line.ask(install.replace(' --yes', ''), withKey(server.url), { answer })
      expect([ended.code, asked]).toEqual([0, [expect.stringContaining(says)]])
    }
    const { mcpServers } = JSON.parse(await readFile(file, 'utf8')) as { mcpServers: Record<string, unknown> }
    expect(Object.keys(mcpServers)).toEqual(['a', 'a-sbx-1'])
    expect(mcpServers['a']).toEqual({ command: 'mine' })
  })

  test.for(['600', '640'])(
    'keeps the mode of the settings, also for their backup: %s',
    async (mode, { line, server }) => {
      const file = path.join(line.home, '.cursor/mcp.json')
      await mkdir(path.dirname(file))
      await writeFile(file, '{"mcpServers":{"other":{"env":{"TOKEN":"secret"}}}}')
      await chmod(file, mode)
      server.answers(json(sandbox))
      expect(await line.ask(install, withKey(server.url))).toMatchObject({ code: 0 })
      expect([await modeOf(file), await modeOf(`${file}.backup`)]).toEqual([mode, mode])
    },
  )

  test('creates settings that only their owner can read', async ({ line, server }) => {
    server.answers(json(sandbox))
    expect(await line.ask(install, withKey(server.url))).toMatchObject({ code: 0 })
    expect(await modeOf(path.join(line.home, '.cursor/mcp.json'))).toBe('600')
  })
})
