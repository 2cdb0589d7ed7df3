import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { revisionRecord } from '@gateway/api/console/sandboxes'
import type { Graph } from '@gateway/api/graph'
import { runnerVersion } from '@gateway/flow/package'
import { answerOf, consoleTest, outcomeOf } from '../console.fixture.ts'
import { asking, echo, twofold, unwired } from './graphs.fixture.ts'

const test = consoleTest.extend('flow', async ({ stack, fixture }) => {
  const product = await fixture.product()
  await fixture.assign(stack.project, product)
  const { body } = await stack.owner.post(`${stack.projectPath}/sandboxes`, { name: 'Flow' })
  const path = `${stack.path}/sandboxes/${body.id}`
  return {
    id: body.id as string,
    path,
    product,
    save: (graph: unknown, more: object = {}) => stack.owner.post(`${path}/revisions`, { graph, ...more }),
    read: (number: number) => stack.owner.get(`${path}/revisions/${number}`),
    activate: (number: number) => stack.owner.post(`${path}/revisions/${number}/activate`),
    sandbox: async () => (await stack.owner.get(path)).body as Record<string, unknown>,
  }
})

// spec: 2.3/s17, 3.1/r1, 3.1/r4, 9/s4
test('each save creates a revision whose package digest is the SHA-256 of the stored package', async ({
  flow,
  fixture,
}) => {
  const graph = asking(flow.product)
  const saved = await flow.save(graph, { baseRevision: 0 })
  expect(outcomeOf(saved)).toBe('201')
  revisionRecord.parse(saved.body) // matches the API description
  expect(saved.body).toMatchObject({ number: 1, draft: false, baseRevision: 0, graph, problems: [] })
  expect(saved.body.package).toMatchObject({ manifest: [flow.product], input: graph.input, output: graph.output })
  expect((await flow.read(1)).body).toEqual(saved.body)
  const { rows } = await fixture.run('SELECT * FROM control.revisions WHERE sandbox = $1', [flow.id])
  expect(rows).toMatchObject([{ manifest: [flow.product], paid_nodes: 1, chat_input: 'text', chat_output: 'text' }])
  const { package: bytes, digest } = rows[0] as { package: Buffer; digest: string }
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest)
  expect(saved.body.digest).toBe(digest)
  const again = await flow.save(graph)
  expect(again.body).toMatchObject({ number: 2, digest })
  expect((await flow.save(twofold)).body).toMatchObject({ number: 3, problems: [] })
  const third = await fixture.run('SELECT chat_input FROM control.revisions WHERE sandbox = $1 AND number = 3', [
    flow.id,
  ])
  expect(third.rows).toEqual([{ chat_input: null }])
  expect(await flow.sandbox()).toMatchObject({ latestRevision: 3, activeRevision: null })
})

// spec: 3.1/r1
test('saves any graph with all its problems, as a draft or not, and refuses to activate it', async ({ flow }) => {
  for (const draft of [false, true]) {
    const saved = await flow.save(unwired, { draft })
    expect(outcomeOf(saved)).toBe('201')
    revisionRecord.parse(saved.body)
    expect(saved.body).toMatchObject({ draft, digest: null, package: null, graph: unwired })
    expect(saved.body.problems.length).toBeGreaterThan(0)
    expect(saved.body.problems[0]).toEqual({
      code: expect.any(String),
      node: 'out',
      port: 'text',
      message: expect.any(String),
      resolution: expect.any(String),
    })
  }
  expect(await flow.sandbox()).toMatchObject({ latestRevision: 2 })
  expect((await flow.save(echo, { draft: true })).body).toMatchObject({ number: 3, draft: true, problems: [] })
  expect(outcomeOf(await flow.activate(1))).toBe('422 graph_invalid')
  expect(await flow.sandbox()).toMatchObject({ activeRevision: null, activePackage: null })
})

test('stores titles, descriptions and positions of nodes with the revision, but not in its digest', async ({
  flow,
}) => {
  const plain = await flow.save(echo)
  const drawn = echo.nodes.map((node, n) => ({ ...node, title: 'Mine', description: 'Here', position: { x: n, y: 2 } }))
  const saved = await flow.save({ ...echo, nodes: drawn })
  expect(saved.body).toMatchObject({ problems: [], graph: { nodes: drawn }, digest: plain.body.digest })
  expect(saved.body.package).toEqual(plain.body.package)
})

test('names an unassigned product on save, and refuses to activate the revision [product_not_assigned]', async ({
  flow,
  stack,
  fixture,
}) => {
  const [other, never] = [await fixture.product(), 'acme/never']
  for (const product of [other, never]) {
    const saved = await flow.save(asking(product))
    expect([outcomeOf(saved), saved.body.problems[0].code]).toEqual(['201', 'product_not_assigned'])
    expect(saved.body.problems[0].message).toContain(product)
    const refused = await flow.activate(saved.body.number)
    expect(outcomeOf(refused)).toBe('403 product_not_assigned')
    expect(refused.body.error.message).toContain(product)
  }
  // If there is another problem too, all problems are reported.
  const both = await flow.activate((await flow.save({ ...unwired, nodes: asking(other).nodes })).body.number)
  expect(outcomeOf(both)).toBe('422 graph_invalid')
  expect(both.body.error.details.problems.map(({ code }: { code: string }) => code)).toContain('product_not_assigned')

  const { number } = (await flow.save(asking(flow.product))).body
  await stack.owner.delete(`${stack.projectPath}/assignments/${encodeURIComponent(flow.product)}`)
  expect(outcomeOf(await flow.activate(number))).toBe('403 product_not_assigned')
  expect(await flow.sandbox()).toMatchObject({ activeRevision: null })
})

// spec: 2.3/s16, 3.1/r2, 7/r12
test('of 30 concurrent saves on one base one wins, and the others get the latest revision number [revision_conflict]', async ({
  flow,
}) => {
  await flow.save(echo)
  const answers = await Promise.all(Array.from({ length: 30 }, () => flow.save(echo, { baseRevision: 1 })))
  const count = Map.groupBy(answers, outcomeOf)
  expect(Object.fromEntries([...count].map(([outcome, { length }]) => [outcome, length]))).toEqual({
    '201': 1,
    '409 revision_conflict': 29,
  })
  expect(count.get('409 revision_conflict')![0]!.body.error.details).toEqual({ latestRevision: 2 })
  // Without a base every save creates a revision.
  const more = await Promise.all(Array.from({ length: 20 }, () => flow.save(echo)))
  expect(more.map(({ body }) => body.number as number).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, n) => n + 3),
  )
  expect(outcomeOf(await flow.save(echo, { baseRevision: 99 }))).toBe('409 revision_conflict')
})

// spec: 2.3/s15, 3.1/r3
test('returns a saved graph unchanged, including odd characters, numbers and field names', async ({
  flow,
  stack,
  console,
}) => {
  const strange = String.raw`"\u0000 \ud800 \udfff é 𝒳 \\u0000 </script> {{ x }}"`
  const nodes = `[{"id":"in","kind":"input"},{"id":"out","kind":"output"},
    {"id":"a","kind":"constant","value":${strange},"__proto__":{"admin":true},"constructor":1,"toString":null},
    {"id":${strange},"kind":${strange},"value":{"__proto__":[1e-7,-0.5,12345678901234567890],"10":1,"9":2}}]`
  const field = `{"type":"string","title":${strange}}`
  const side = `{"type":"object","properties":{"text":${field},"__proto__":${field},${strange}:${field}},"required":["text","__proto__"]}`
  const graph = `{"input":${side},"output":${side},"nodes":${nodes},"edges":[{"from":${strange},"to":"out.text"}]}`
  const answer = await fetch(`${console.url}${flow.path}/revisions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${stack.owner.token}` },
    body: `{"graph":${graph},"draft":true}`,
  })
  const saved = await answerOf(answer)
  expect(outcomeOf(saved)).toBe('201')
  const read = await fetch(`${console.url}${flow.path}/revisions/1`, {
    headers: { Authorization: `Bearer ${stack.owner.token}` },
  })
  expect(await read.text()).toContain(`"graph":${JSON.stringify(JSON.parse(graph))},"problems":[{`)
})

// spec: 7/s3
test('refuses a JSON field that is sent twice, and saves nothing [invalid_json]', async ({ flow, stack, console }) => {
  const text = JSON.stringify(echo)
  const answer = await fetch(`${console.url}${flow.path}/revisions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${stack.owner.token}` },
    body: `{"graph":${text.replace('"edges":', '"edges":[{"from":"no.where","to":"out.text"}],"edges":')}}`,
  })
  const refused = await answerOf(answer)
  expect(outcomeOf(refused)).toBe('400 invalid_json')
  expect(refused.body.error.message).toContain('"edges" twice')
  expect(await flow.sandbox()).toMatchObject({ latestRevision: 0 })
})

test('saves warnings with a revision, which activation ignores', async ({ flow }) => {
  const lost = { id: 'lost', kind: 'product.chat', product: flow.product }
  const graph = {
    ...echo,
    nodes: [...echo.nodes, lost],
    edges: [...echo.edges, { from: 'in.text', to: 'lost.prompt' }],
  }
  const saved = await flow.save(graph)
  expect(saved.body).toMatchObject({ problems: [], warnings: [{ code: 'result_unused', node: 'lost' }] })
  expect((await flow.read(1)).body.warnings).toEqual(saved.body.warnings)
  expect(outcomeOf(await flow.activate(1))).toBe('200')
  expect((await flow.save(echo)).body.warnings).toEqual([])
})

// spec: 3.1/r1
test('saves a half-made contract with its problems', async ({ flow }) => {
  const properties = { topic: { $ref: '#/definitions/topic' }, tone: { type: 'string', enum: ['dry', ''] }, more: {} }
  const graph = { ...echo, input: { type: 'object', properties, required: ['text'] } }
  const saved = await flow.save(graph)
  expect(outcomeOf(saved)).toBe('201')
  expect(saved.body).toMatchObject({ digest: null, graph })
  const problems = saved.body.problems as { code: string; port: string | null }[]
  const ports = problems.flatMap(({ code, port }) => (code === 'contract_invalid' && port !== null ? [port] : []))
  expect(new Set(ports)).toEqual(new Set(['topic', 'tone', 'more']))
})

test.for([
  ['a missing graph', '{}', 'graph'],
  ['null', '{"graph":null}', 'graph'],
  ['a list', '{"graph":[]}', 'graph'],
  ['no nodes', '{"graph":{"input":{},"output":{},"edges":[]},"draft":true}', 'graph.input.type'],
  ['a node without a kind', JSON.stringify({ graph: { ...echo, nodes: [{ id: 'x' }] } }), 'graph.nodes.0.kind'],
  [
    'an edge with an unknown field',
    JSON.stringify({ graph: { ...echo, edges: [{ from: 'a.b', to: 'c.d', x: 1 }] } }),
    'graph.edges.0.x',
  ],
  ['an unknown field of the graph', JSON.stringify({ graph: { ...echo, layout: {} } }), 'graph.layout'],
  ['an unknown field', JSON.stringify({ graph: echo, active: true }), 'active'],
  ['a negative base revision', JSON.stringify({ graph: echo, baseRevision: -1 }), 'baseRevision'],
] as const)(
  'rejects a body that is not a valid graph: %s [invalid_request]',
  async ([, body, param], { flow, stack, console }) => {
    const answer = await fetch(`${console.url}${flow.path}/revisions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stack.owner.token}` },
      body,
    })
    const refused = await answerOf(answer)
    expect([outcomeOf(refused), refused.body.error.param]).toEqual(['400 invalid_request', param])
    expect(await flow.sandbox()).toMatchObject({ latestRevision: 0 })
  },
)

test('accepts a body of 2 MiB and rejects one byte more [request_too_large]', async ({ flow, stack, console }) => {
  const send = (length: number) => {
    const body = JSON.stringify({ graph: echo, draft: true })
    return fetch(`${console.url}${flow.path}/revisions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stack.owner.token}` },
      body: body + ' '.repeat(length - body.length),
    }).then(answerOf)
  }
  expect(outcomeOf(await send(2 * 1024 * 1024))).toBe('201')
  expect(outcomeOf(await send(2 * 1024 * 1024 + 1))).toBe('413 request_too_large')
})

test('lists revisions newest first, on pages that are cut before they become too large', async ({ flow, stack }) => {
  const large: Graph = { ...echo, nodes: [...echo.nodes, { id: 'c', kind: 'constant', value: 'x'.repeat(1_900_000) }] }
  for (let n = 0; n < 6; n++) await flow.save(large, { draft: true })
  const pages = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await stack.owner.get(`${flow.path}/revisions?limit=5${cursor && `&cursor=${cursor}`}`)
    pages.push(body.data.map(({ number }: { number: number }) => number))
    cursor = body.nextCursor as string | null
  }
  expect(pages).toEqual([
    [6, 5, 4, 3],
    [2, 1],
  ])
  expect(outcomeOf(await stack.owner.get(`${flow.path}/revisions?cursor=x`))).toBe('400 invalid_request')
})

test.for(['0', '2', '01', '-1', '1.0', 'x', '99999999999', '%00'])(
  'responds with 404 to revision %s [not_found]',
  async (number, { flow, stack }) => {
    await flow.save(echo)
    expect(outcomeOf(await stack.owner.get(`${flow.path}/revisions/${number}`))).toBe('404 not_found')
    expect(outcomeOf(await stack.owner.post(`${flow.path}/revisions/${number}/activate`))).toBe('404 not_found')
  },
)

// spec: 2.3/s16, 3.1/r3, 3.1/r4, 3.1/r5
test('activation validates again what has changed since the save, and keeps the active revision if it fails [graph_invalid]', async ({
  flow,
  stack,
  fixture,
}) => {
  await flow.save(echo)
  await flow.save(unwired, { draft: true })
  expect((await flow.activate(1)).body).toMatchObject({ activeRevision: 1, latestRevision: 2 })
  const refused = await flow.activate(2)
  expect(outcomeOf(refused)).toBe('422 graph_invalid')
  expect(refused.body.error.details.problems).toEqual((await flow.read(2)).body.problems)
  expect(await flow.sandbox()).toMatchObject({ activeRevision: 1 })

  // A draft whose product has since been assigned has no problems left. Its package is stored for the sandbox product;
  // the revision itself is unchanged.
  const product = await fixture.product()
  const saved = await flow.save(asking(product), { draft: true })
  expect(saved.body).toMatchObject({ number: 3, digest: null })
  await stack.owner.put(`${stack.projectPath}/assignments/${encodeURIComponent(product)}`)
  const activePackage = { digest: expect.any(String), runnerVersion, manifest: [product], builtAt: expect.any(String) }
  expect((await flow.activate(3)).body).toMatchObject({ activeRevision: 3, activePackage })
  expect((await flow.read(3)).body).toEqual(saved.body)
  const { rows } = await fixture.run(
    'SELECT package, digest FROM control.packages WHERE sandbox = $1 AND revision = 3',
    [flow.id],
  )
  const [{ package: bytes, digest }] = rows as [{ package: Buffer; digest: string }]
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest)
  expect((await flow.activate(1)).body).toMatchObject({ activeRevision: 1 })
})

// spec: 2.3/s15, 2.3/s17, 9/s4
test('activating a revision saved by an earlier release builds a new package and leaves the revision unchanged', async ({
  flow,
  fixture,
}) => {
  await flow.save(echo)
  const older = Buffer.from(JSON.stringify({ ...(await flow.read(1)).body.package, runnerVersion: '0' }))
  const digest = createHash('sha256').update(older).digest('hex')
  await fixture.run('UPDATE control.revisions SET package = $2, digest = $3 WHERE sandbox = $1', [
    flow.id,
    older,
    digest,
  ])
  const before = await flow.read(1)
  expect(before.body.package.runnerVersion).toBe('0')
  const { body } = await flow.activate(1)
  expect(body.activePackage).toMatchObject({ runnerVersion })
  expect(body.activePackage.digest).not.toBe(digest)
  expect((await flow.read(1)).body).toEqual(before.body)
  expect((await flow.activate(1)).body.activePackage).toEqual(body.activePackage) // built once
})

// spec: 3.1/r5
test('an activation that cannot be written changes nothing [activation_failed]', async ({ flow, fixture }) => {
  await flow.save(echo)
  await flow.save(twofold)
  await flow.activate(1)
  await fixture.run(`CREATE FUNCTION control.refuse_two() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.active_revision = 2 THEN RAISE EXCEPTION 'no space left'; END IF; RETURN NEW; END $$`)
  await fixture.run(
    'CREATE TRIGGER refuse_two BEFORE UPDATE ON control.sandboxes FOR EACH ROW EXECUTE FUNCTION control.refuse_two()',
  )
  const audited = () =>
    fixture.run(`SELECT FROM control.audit WHERE action = 'revision.activate' AND subject = $1`, [flow.id])
  try {
    const refused = await flow.activate(2)
    expect([outcomeOf(refused), refused.headers.get('Retry-After')]).toEqual(['503 activation_failed', '1'])
    expect(JSON.stringify(refused.body)).not.toContain('space')
    expect(await flow.sandbox()).toMatchObject({ activeRevision: 1 })
    expect((await audited()).rowCount).toBe(1)
  } finally {
    await fixture.run('DROP TRIGGER refuse_two ON control.sandboxes')
    await fixture.run('DROP FUNCTION control.refuse_two')
  }
  expect((await flow.activate(2)).body).toMatchObject({ activeRevision: 2 })
})

// spec: 2.3/s15, 3.1/r1, 9/s4
test('a later save never changes an earlier revision', async ({ flow, stack }) => {
  const first = await flow.save(echo)
  await flow.save(twofold)
  await flow.activate(2)
  expect((await flow.read(1)).body).toEqual(first.body)
  expect(outcomeOf(await stack.owner.put(`${flow.path}/revisions/1`, { graph: twofold }))).toBe(
    '405 method_not_allowed',
  )
})

test('reports an image that may be too large for the chat node it is wired to, on save and on activation [graph_invalid]', async ({
  flow,
  fixture,
  stack,
}) => {
  const painter = await fixture.publishProduct({ kind: 'image', maxOutputBytes: 5_242_881 })
  const viewer = await fixture.publishProduct({ maxTokensPerImage: 100 })
  await fixture.assign(stack.project, painter, viewer)
  const graph = {
    ...echo,
    nodes: [
      ...echo.nodes,
      { id: 'paint', kind: 'product.image', product: painter },
      { id: 'look', kind: 'product.chat', product: viewer },
    ],
    edges: [
      { from: 'in.text', to: 'paint.prompt' },
      { from: 'in.text', to: 'look.prompt' },
      { from: 'paint.image', to: 'look.image' },
      { from: 'look.text', to: 'out.text' },
    ],
  }
  const saved = await flow.save(graph, { draft: true })
  expect(saved.body.problems).toMatchObject([{ code: 'image_too_large', node: 'look', port: 'image' }])
  const refused = await flow.activate(saved.body.number)
  expect(outcomeOf(refused)).toBe('422 graph_invalid')
  expect(refused.body.error.details.problems).toMatchObject([{ code: 'image_too_large' }])

  await fixture.run('UPDATE control.products SET max_output_bytes = 5242880 WHERE id = $1', [painter])
  expect(outcomeOf(await flow.activate(saved.body.number))).toBe('200')
  await fixture.run('UPDATE control.products SET max_tokens_per_image = NULL WHERE id = $1', [viewer])
  const blind = await flow.save(graph, { draft: true })
  expect(blind.body.problems).toMatchObject([{ code: 'port_unsupported', node: 'look', port: 'image' }])
})

test('reports parameter values that the product of a node does not list on save', async ({ flow, fixture, stack }) => {
  const painter = await fixture.publishProduct({ kind: 'image', parameterValues: { size: ['512x512'] } })
  await fixture.assign(stack.project, painter)
  const output = { ...echo.output, properties: { picture: { type: 'object', format: 'image' } }, required: ['picture'] }
  const painting = (params: object) => ({
    ...echo,
    output,
    nodes: [...echo.nodes, { id: 'paint', kind: 'product.image', product: painter, params }],
    edges: [
      { from: 'in.text', to: 'paint.prompt' },
      { from: 'paint.image', to: 'out.picture' },
    ],
  })
  const problemsOf = async (params: object) =>
    ((await flow.save(painting(params), { draft: true })).body.problems as { code: string }[]).map(({ code }) => code)
  expect(await problemsOf({ size: '512x512' })).toEqual([])
  expect(await problemsOf({ size: '2048x2048' })).toEqual(['param_unsupported'])
  expect(await problemsOf({ format: 'png' })).toEqual(['param_unsupported'])
})
