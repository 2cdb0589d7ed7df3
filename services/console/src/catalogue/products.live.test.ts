import { expect } from 'vitest'
import { consoleTest, outcomeOf } from '../console.fixture.ts'

const test = consoleTest.extend('counts', { scope: 'file' }, () => ({ gateways: 0, workers: 0 })) // all tenants share one catalogue, so this file needs a separate installation

const body = (id: string) => ({
  id,
  name: 'Swift',
  ownedBy: 'Acme',
  kind: 'chat',
  state: 'published',
  contextLength: 128_000,
  maxOutputTokens: 8192,
  pricing: { unit: 'tokens', prompt: '0.00000015', completion: '0.0000006' },
  providers: [{ provider: 'simulated', model: 'sim-swift', priority: 0 }],
})

const imageInput = { maxBytes: 1_000, maxCount: 1, https: false }
const embedding = { unit: 'tokens', prompt: '0.00000002', completion: '0' }
const painter = { kind: 'image', pricing: { unit: 'request', request: '0.04' } }

test('creates a product with exact prices, and shows its providers, tokenizer and overheads to the operator only', async ({
  signIn,
  stack,
}) => {
  const operator = await signIn({ platformOperator: true })
  const made = await operator.post('/api/v2/products', { ...body('acme/made'), tokenizer: 'o200k_base' })
  expect(outcomeOf(made)).toBe('201')
  expect(made.body).toMatchObject({
    ...body('acme/made'),
    description: '',
    modalities: { input: ['text'], output: ['text'] },
    overheads: { ...overheads(), factor: 1 },
    imageInput: { maxBytes: 5_242_880, maxCount: 10, https: false },
    maxOutputBytes: 5_242_880,
    parameterValues: {},
  })
  const { providers, tokenizer, overheads: ofOperator, ...shown } = made.body
  expect([providers, tokenizer, ofOperator]).toEqual([body('').providers, 'o200k_base', expect.any(Object)])
  const listed = await stack.owner.get('/api/v2/products')
  expect(listed.body.data).toContainEqual(shown)
  expect(JSON.stringify(listed.body)).not.toMatch(/sim-swift|o200k|overheads|tokenizer/)
})

test('members of any organization can list the catalogue, and no one else can [not_permitted]', async ({
  signIn,
  stack,
  fixture,
}) => {
  const outsider = await signIn()
  expect(outcomeOf(await outsider.get('/api/v2/products'))).toBe('403 not_permitted')
  expect(outcomeOf(await (await stack.member()).get('/api/v2/products'))).toBe('200')
  await fixture.run('DELETE FROM control.memberships WHERE user_id = $1', [stack.owner.id])
  expect(outcomeOf(await stack.owner.get('/api/v2/products'))).toBe('403 not_permitted')
})

test('refuses a chat product whose default output leaves no room for a prompt [invalid_request]', async ({
  signIn,
}) => {
  const operator = await signIn({ platformOperator: true })
  const path = '/api/v2/products/acme%2Froom'
  const create = (more: object) => operator.post('/api/v2/products', { ...body('acme/room'), ...more })
  const change = (patch: object) => operator.patch(path, patch)
  const noRoom = {
    status: 400,
    body: { error: { code: 'invalid_request', param: 'maxOutputTokens', resolution: 'Leave room for a prompt.' } },
  }
  const all8k = { contextLength: 8192, maxOutputTokens: 8192 }
  expect(await create(all8k)).toMatchObject(noRoom)
  expect(outcomeOf(await create({}))).toBe('201')
  for (const patch of [{ contextLength: 4096 }, all8k]) expect(await change(patch)).toMatchObject(noRoom)
  // A call without max_tokens asks for at most 8,192 tokens.
  expect(outcomeOf(await change({ maxOutputTokens: 128_000 }))).toBe('200')
  expect(outcomeOf(await create({ id: 'acme/embedder', kind: 'embedding', pricing: embedding, ...all8k }))).toBe('201')
})

test('lets a product without room for a prompt be suspended, and not published [invalid_request]', async ({
  signIn,
  stack,
}) => {
  const operator = await signIn({ platformOperator: true })
  const path = `/api/v2/products/${encodeURIComponent(await stack.fixture.publishProduct({ contextLength: 8192 }))}`
  expect(outcomeOf(await operator.patch(path, { state: 'suspended' }))).toBe('200')
  const published = await operator.patch(path, { state: 'published' })
  expect(published).toMatchObject({ status: 400, body: { error: { param: 'maxOutputTokens' } } })
})

test('counts a byte as one token if the product has a tokenizer, and as half a token if not', async ({ signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const rateOf = async (id: string, more: object) =>
    (await operator.post('/api/v2/products', { ...body(id), ...more })).body.overheads.tokensPerByte
  expect(await rateOf('acme/counted', { tokenizer: 'o200k_base' })).toBe(1)
  expect(await rateOf('acme/uncounted', { tokenizer: null })).toBe(0.5)
  expect(await rateOf('acme/own', { overheads: { tokensPerByte: 0.9, perMessage: 4 } })).toBe(0.9)
})

test('shows the operator the factor as raised by excesses, and lets the operator lower it', async ({
  signIn,
  stack,
}) => {
  const operator = await signIn({ platformOperator: true })
  const path = '/api/v2/products/acme%2Ffactor'
  await operator.post('/api/v2/products', body('acme/factor'))
  await stack.fixture.run(`SELECT money.raise_factors('{acme/factor}', '{1800000}')`)
  const factorAfter = async (overheads: object) =>
    (await operator.patch(path, { overheads })).body.overheads.factor as number
  expect(await factorAfter({ perMessage: 12 })).toBe(1.8) // an omitted field keeps its value
  expect(await factorAfter({ factor: 1.2 })).toBe(1.2)
  expect((await operator.patch(path, {})).body.overheads).toEqual({
    ...overheads(),
    tokensPerByte: 0.5,
    perMessage: 12,
    factor: 1.2,
  })
  const { rows } = await stack.fixture.run(
    `SELECT action, details -> 'before' -> 'factor' AS before, details -> 'after' -> 'factor' AS after
       FROM control.audit WHERE subject = 'acme/factor' AND details -> 'fields' IS NOT NULL ORDER BY id`,
  )
  expect(rows[1]).toEqual({ action: 'product.change', before: 1.8, after: 1.2 })
  for (const factor of [0.9, 4.1])
    expect(outcomeOf(await operator.patch(path, { overheads: { factor } }))).toBe('400 invalid_request')
})

test('keeps what each provider charges, for the operator and the audit only', async ({ signIn, stack }) => {
  const operator = await signIn({ platformOperator: true })
  const path = '/api/v2/products/acme%2Fcosted'
  const perCall = { ...body('').providers[0], cost: { unit: 'request', request: '0.0013' } }
  const cost = { unit: 'tokens', prompt: '0.0000001', completion: '0.0000004', cachedPrompt: '0.000000000001' }
  const perToken = { ...perCall, priority: 1, cost: { ...cost, cacheWrite: '0.00000012', reasoning: '0' } }
  const made = await operator.post('/api/v2/products', { ...body('acme/costed'), providers: [perCall] })
  expect([outcomeOf(made), made.body.providers]).toEqual(['201', [perCall]])
  const changed = await operator.patch(path, { providers: [perToken, perCall] })
  expect(changed.body).toEqual({ ...made.body, providers: [perToken, perCall] })
  expect(JSON.stringify((await stack.owner.get('/api/v2/products')).body)).not.toMatch(/cost"|0\.0013/)
  const { rows } = await stack.fixture.run(
    `SELECT details FROM control.audit WHERE action = 'product.change' AND subject = 'acme/costed'`,
  )
  expect(rows[0].details).toMatchObject({
    before: { providers: [perCall] },
    after: { providers: [perToken, perCall] },
  })
})

test.for([
  ['a cost beyond the ceiling', { cost: { unit: 'tokens', prompt: '0.11', completion: '0' } }, 'prompt'],
  ['a cost with 13 decimal places', { cost: { unit: 'request', request: '0.0000000000001' } }, 'request'],
  [
    'cache writes that cost less than the prompt',
    { cost: { unit: 'tokens', prompt: '0.0000002', completion: '0', cacheWrite: '0.0000001' } },
    'cacheWrite',
  ],
  [
    'an image that costs by tokens',
    { ...painter, cost: { unit: 'tokens', prompt: '0.0000001', completion: '0' } },
    'unit',
  ],
  [
    'an embedding whose completion costs',
    { kind: 'embedding', pricing: { ...body('').pricing, completion: '0' }, cost: body('').pricing },
    'completion',
  ],
] as const)('refuses %s [invalid_request]', async ([, { cost, ...more }, part], { signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const { kind } = { ...body(''), ...more }
  const providers = [{ ...body('').providers[0], cost }]
  const made = await operator.post('/api/v2/products', { ...body('acme/refused'), ...more, providers })
  expect([outcomeOf(made), made.body.error.param]).toEqual(['400 invalid_request', `providers.0.cost.${part}`])
  await operator.post('/api/v2/products', { ...body(`acme/costs-${kind}`), ...more })
  const patched = await operator.patch(`/api/v2/products/acme%2Fcosts-${kind}`, { providers })
  expect([outcomeOf(patched), patched.body.error.param]).toEqual([outcomeOf(made), made.body.error.param])
})

test('lists unpublished products to the operator only', async ({ signIn, stack }) => {
  const operator = await signIn({ platformOperator: true })
  await operator.post('/api/v2/products', { ...body('acme/draft'), state: 'draft' })
  const ids = async (caller: typeof operator) =>
    (await caller.get('/api/v2/products')).body.data.map(({ id }: { id: string }) => id)
  expect(await ids(operator)).toContain('acme/draft')
  expect(await ids(stack.owner)).not.toContain('acme/draft')
})

test('refuses to create a product whose ID is taken [already_exists]', async ({ signIn }) => {
  const operator = await signIn({ platformOperator: true })
  await operator.post('/api/v2/products', body('acme/once'))
  expect(outcomeOf(await operator.post('/api/v2/products', body('acme/once')))).toBe('409 already_exists')
})

// spec: 2.2/r1, 9/s3
test('a patch changes only the fields it names [not_found]', async ({ signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const { body: before } = await operator.post('/api/v2/products', body('acme/patched'))
  const path = '/api/v2/products/acme%2Fpatched'
  const overheads = {
    tokensPerByte: 0.75,
    perMessage: 4,
    perTool: 8,
    fixedWithTools: 32,
    maxTokensPerImage: 1000,
    factor: 2,
  }
  const pricing = { unit: 'request', request: '0.002' }
  const after = await operator.patch(path, { name: 'Swift 2', pricing, overheads, state: 'suspended' })
  expect(after.body).toEqual({ ...before, name: 'Swift 2', pricing, overheads, state: 'suspended' })
  const nothing = await operator.patch(path, {})
  expect(nothing.body).toEqual(after.body)
  expect(outcomeOf(await operator.patch(path, { id: 'acme/other' }))).toBe('400 invalid_request')
  expect(outcomeOf(await operator.patch('/api/v2/products/acme%2Fnever', {}))).toBe('404 not_found')
})

test('the image limits and allowed parameter values of a product can be read and changed', async ({ signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const parameterValues = { size: ['512x512', '1024x1024'], format: ['png', 'webp'] }
  const limits = { maxOutputBytes: 2_000_000, parameterValues }
  const made = await operator.post('/api/v2/products', { ...body('acme/painter'), ...painter, ...limits })
  expect(made.body).toMatchObject(limits)
  const more = { imageInput: { maxBytes: 1_000, maxCount: 1, https: true }, parameterValues: {} }
  const changed = await operator.patch('/api/v2/products/acme%2Fpainter', more)
  expect(changed.body).toEqual({ ...made.body, ...more })
})

// spec: 2.2/s3, 8.3/s4
test.for([
  ['the ID of a sandbox product', { id: 'sbx-mine' }, 'id'],
  ['a price that is not a decimal', { pricing: { unit: 'tokens', prompt: '1e-6', completion: '0' } }, 'pricing.prompt'],
  [
    'a price with 13 decimal places',
    { pricing: { unit: 'tokens', prompt: '0', completion: '0.0000000000001' } },
    'pricing.completion',
  ],
  ['a price beyond the ceiling', { pricing: { unit: 'tokens', prompt: '0.11', completion: '0' } }, 'pricing.prompt'],
  ['a price that is a number', { pricing: { unit: 'request', request: 1 } }, 'pricing.request'],
  ['an image priced by tokens', { kind: 'image' }, 'pricing.unit'],
  ['no provider', { providers: [] }, 'providers'],
  ['more than one token per byte', { overheads: { ...overheads(), tokensPerByte: 1.5 } }, 'overheads.tokensPerByte'],
  [
    'a larger image than a chat may have',
    { imageInput: { ...imageInput, maxBytes: 15_728_641 } },
    'imageInput.maxBytes',
  ],
  ['more images than a chat may have', { imageInput: { ...imageInput, maxCount: 101 } }, 'imageInput.maxCount'],
  ['an output larger than an asset may be', { ...painter, maxOutputBytes: 25_000_001 }, 'maxOutputBytes'],
  ['media parameters for a chat model', { parameterValues: { size: ['1x1'] } }, 'parameterValues.size'],
  ['a voice for an image model', { ...painter, parameterValues: { voice: ['ada'] } }, 'parameterValues.voice'],
  [
    'an audio format for an image model',
    { ...painter, parameterValues: { format: ['wav'] } },
    'parameterValues.format',
  ],
  ['a wholesale price', { wholesale: '0.1' }, 'wholesale'],
] as const)('rejects a product with %s [invalid_request]', async ([, more, param], { signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const answer = await operator.post('/api/v2/products', { ...body('acme/refused'), ...more })
  expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
})

function overheads() {
  return { tokensPerByte: 1, perMessage: 8, perTool: 16, fixedWithTools: 64, maxTokensPerImage: null }
}
