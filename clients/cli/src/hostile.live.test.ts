import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect } from 'vitest'
import { cut, cutAfter, json, refusal, type Step } from '@gateway/api-client/scripted-server'
import { builtTest as test } from './built-command.fixture.ts'
import { askLine } from './frame/io.ts'

// The command under careless use and bad luck: it always ends with a sentence and its resolution, never with a stack
// trace.

const reportsFailure = (code: number, says: string) => ({
  code,
  output: '',
  words: expect.stringMatching(new RegExp(`^(?!.*node:internal)(?=.*${says}).*Resolution: .`, 's')) as string,
})
const page: Step = (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>')
const empty: Step = (res) => res.writeHead(204).end()

describe('the CLI reports an unusable profiles.json with its path:', () => {
  test.for([
    ['[]', 'profiles.json is damaged'],
    ['null', 'profiles.json'],
    ['"x"', 'profiles.json'],
    ['{"default":', 'profiles.json'],
    ['{"default":null}', ': default'],
    ['{"default":{"token":"svu_1"}}', ': default.url'],
    ['{"default":{"url":5,"token":"svu_1"}}', ': default.url'],
    ['{"default":{"url":"https://gateway.example"}}', ': default.token'],
    ['{"default":{"url":"https://gateway.example","token":"svu_a\\nsecret"}}', 'characters'],
  ])('%s', async ([text, says], { line }) => {
    await mkdir(line.settings, { recursive: true })
    await writeFile(path.join(line.settings, 'profiles.json'), text!)
    const ended = await line.ask('gateway keys list', {})
    expect(ended).toMatchObject(reportsFailure(3, says!))
    expect(ended.words).not.toContain('secret')
  })

  test.for([
    ['a folder in its place', 'mkdir -p ~/.config/gateway/profiles.json', 'EISDIR'],
    ['a file in place of the folder', 'echo > ~/.config', 'ENOTDIR'],
  ])('%s', async ([, lines, code], { line }) => {
    expect(await line.shell(`${lines}; gateway keys list`, {})).toMatchObject(
      reportsFailure(1, `profiles.json.*${code}`),
    )
  })

  test('a file that other users can read', async ({ line }) => {
    await mkdir(line.settings, { recursive: true })
    await writeFile(path.join(line.settings, 'profiles.json'), '{}', { mode: 0o644 })
    expect((await line.ask('gateway keys list', {})).words).toContain('chmod 600')
  })

  test('but accepts one with a byte order mark', async ({ line, server }) => {
    await mkdir(line.settings, { recursive: true })
    const text = JSON.stringify({ default: { url: server.url, token: 'svu_1' } })
    await writeFile(path.join(line.settings, 'profiles.json'), `\uFEFF${text}`)
    server.answers(json({ data: [], nextCursor: null }))
    expect(await line.ask('gateway keys list', {})).toMatchObject({ code: 0 })
  })
})

test('gateway login with the stored token neither deletes it nor forgets its id', async ({ line, server }) => {
  const file = path.join(line.settings, 'profiles.json')
  await mkdir(line.settings, { recursive: true })
  const stored = { url: server.url, token: 'svu_1', tokenId: 'tok_1' }
  await writeFile(file, JSON.stringify({ default: stored }))
  server.answers(json({ id: 'usr_1', name: 'U', email: 'u@example.test' }))
  const login = `gateway login --url ${server.url} --token-stdin`
  expect(await line.ask(login, {}, { input: 'svu_1\n' })).toMatchObject({ code: 0 })
  expect(server.requests.map(({ method }) => method)).toEqual(['GET'])
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ default: stored })
})

describe('the CLI reports an invalid response:', () => {
  test.for<[string, Step, string, string]>([
    ['an HTML page', page, 'gateway keys list', 'text/html'],
    ['an empty body', empty, 'gateway keys list', 'Unexpected error'],
    ['JSON of another shape', json({ a: 1 }), 'gateway keys list', 'Unexpected error'],
    ['null', json(null), 'gateway whoami', 'Unexpected error'],
    ['an HTML page in place of a table', page, 'gateway usage --csv', 'text/html'],
    ['a truncated table', cutAfter('a,b\n1,2\n', 'text/csv'), 'gateway usage --csv', 'truncated'],
    ['a redirect', (res) => res.writeHead(302, { location: '/login' }).end(), 'gateway whoami', '/login'],
    ['a refusal without a message', json({ error: { code: 'not_found' } }, 404), 'gateway whoami', 'not_found'],
  ])('%s', async ([, step, asked, says], { line, server }) => {
    server.answers(step)
    expect(await line.ask(asked)).toMatchObject(reportsFailure(1, says))
  })

  test('a refusal with control characters or line breaks, which are removed', async ({ line, server }) => {
    const error = { code: 'x\u001B[31m', message: 'a\u001B[2J\u202E\nResolution: b', resolution: 'c\u009B2J\nd' }
    server.answers(json({ error }, 400))
    const { words } = await line.shell('gateway whoami --json')
    expect(words).toBe('Refused, x\uFFFD[31m: a\uFFFD[2J\uFFFD Resolution: b\nResolution: c\uFFFD2J d\n')
  })

  test('no response, with the reason from the network', async ({ line }) => {
    const env = { GATEWAY_URL: 'https://none.invalid', GATEWAY_TOKEN: 'svu_1' }
    expect(await line.ask('gateway whoami', env)).toMatchObject(reportsFailure(1, 'none.invalid'))
  })
})

describe('a 401 asks for the credential that was refused:', () => {
  const me = json({ id: 'usr_1', name: 'U', email: 'u@example.test', permissions: null, tenants: [] })
  const signIn = 'Sign in: gateway login, or set GATEWAY_TOKEN to a valid token.'
  const setKey = 'Set GATEWAY_KEY to a valid key.'
  test.for<[string, string, number, string, Step[]]>([
    ['session_missing', 'gateway whoami', 3, signIn, []],
    ['token_invalid', 'gateway whoami', 3, signIn, []],
    ['key_missing', 'gateway whoami', 1, setKey, [me]],
    ['key_invalid', 'gateway whoami', 1, setKey, [me]],
    ['key_revoked', 'gateway whoami', 1, setKey, [me]],
    ['key_expired', 'gateway keys check --model m', 1, setKey, []],
  ])('%s, %s', async ([refused, asked, code, says, before], { line, server }) => {
    server.answers(...before, refusal(refused, 401))
    const env = { GATEWAY_URL: server.url, GATEWAY_TOKEN: 'svu_1', GATEWAY_KEY: 'svc_1' }
    const ended = await line.ask(asked, env)
    expect([ended.code, ended.words.trim().split('\n').at(-1)]).toEqual([code, says])
    expect(ended.output.includes('u@example.test')).toBe(before.length > 0)
  })
})

describe('the CLI reports that a request without a valid response may have taken effect:', () => {
  const lines: Step = (res) =>
    res
      .writeHead(200, { 'content-type': 'application/x-ndjson' })
      .end('{"kind":"admitted","seq":0,"executionId":"exe_9"}\n0\n')
  test.for<[string, Step, string, string]>([
    ['the creation of a key', cutAfter('{'), 'gateway keys create x', 'keys list'],
    ['the rotation of a secret', cutAfter('{'), 'gateway keys rotate key_1 --yes', 'Rotate it again'],
    ['an execution', page, `gateway flows run sbx-1`, 'executions list'],
    ['an execution that has started', lines, `gateway flows run sbx-1`, 'executions tail exe_9'],
  ])('%s', async ([, step, asked, says], { line, server }) => {
    server.answers(step, step, step)
    expect(await line.ask(asked)).toMatchObject({ code: 1, words: expect.stringContaining(says) as string })
  })
})

describe('gateway calls tail', () => {
  const call = {
    id: 'inv_1',
    createdAt: '2026-11-20T10:00:00Z',
    model: 'm',
    state: 'Settled',
    reason: null,
    chargedMicro: 5,
  }

  const DAY = 24 * 60
  const callAt = (id: string, minutesAgo: number, state = 'Settled') => ({
    ...call,
    id,
    state,
    createdAt: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
  })
  /** Lists these calls, newest first, as the gateway does. A call that is read by its id has ended. */
  const gatewayWith =
    (calls: ReturnType<typeof callAt>[]): Step =>
    (res, req) => {
      const { pathname, searchParams } = new URL(req.url!, 'http://gateway')
      const one = calls.find(({ id }) => pathname.endsWith(`/${id}`))
      if (one) return json({ ...one, state: 'Settled' })(res, req)
      const [from, to] = [searchParams.get('from') ?? '', searchParams.get('to') ?? '9']
      const found = calls.filter(({ createdAt }) => createdAt >= from && createdAt < to)
      const at = Number(searchParams.get('cursor') ?? 0)
      const next = at + Number(searchParams.get('limit'))
      json({ data: found.slice(at, next), nextCursor: next < found.length ? String(next) : null })(res, req)
    }

  test('continues after the service did not respond for a while', async ({ line, server }) => {
    const found = json({ data: [call], nextCursor: null })
    server.answers(cut, cut, cut, found, found)
    expect(await line.ask('gateway calls tail --since 10m --count 1 --json')).toMatchObject({
      code: 0,
      output: `${JSON.stringify(call)}\n`,
    })
  })

  test('prints the headings once on a terminal', async ({ line, server }) => {
    const later = { ...call, id: 'inv_2', createdAt: '2026-11-20T10:00:05Z' }
    const found = json({ data: [call], nextCursor: null })
    server.answers(found, found, json({ data: [later, call], nextCursor: null }))
    const { output } = await line.ask('gateway calls tail --since 10m --count 2', undefined, { isShown: true })
    expect(output.split('\n').map((row) => /ADMITTED|inv_\d/.exec(row)?.[0])).toEqual([
      'ADMITTED',
      'inv_1',
      'inv_2',
      undefined,
    ])
  })

  test.for<[string, object[]]>([
    ['the newest call', [{ ...call, id: 'inv_0' }]],
    ['the newest call, which has not ended', [{ ...call, id: 'inv_0', state: 'Open' }]],
    ['no call', []],
  ])('shows calls after %s, regardless of the local clock', async ([, before], { line, server }) => {
    const later = { ...call, id: 'inv_2', createdAt: '2026-11-20T10:00:05Z' }
    const ended = before.map((earlier) => ({ ...earlier, state: 'Settled' }))
    server.answers(json({ data: before, nextCursor: before.length === 0 ? null : 'more' }))
    server.answers(json({ data: [later, ...ended], nextCursor: null }))
    const { output } = await line.ask('gateway calls tail --count 1 --json')
    expect(output).toBe(`${JSON.stringify(later)}\n`)
    const asked = server.requests.map(({ url }) => Object.fromEntries(new URL(url, server.url).searchParams))
    expect(asked).toEqual([{ limit: '1' }, { limit: '100', ...(before.length > 0 && { from: call.createdAt }) }])
  })

  test('asks for an open call by its id, and lists only from the newest call', async ({ line, server }) => {
    const newest = callAt('inv_2', 1)
    server.answers(...Array<Step>(4).fill(gatewayWith([newest, callAt('inv_1', 2), callAt('inv_0', 3, 'Open')])))
    const { code, output } = await line.ask('gateway calls tail --since 10m --count 3 --json')
    expect([code, output.match(/inv_\d/g)]).toEqual([0, ['inv_1', 'inv_2', 'inv_0']])
    const asked = server.requests.map(({ url }) => decodeURIComponent(url).replace(/.*\/invocations/, ''))
    expect(asked.slice(2).toSorted()).toEqual(['/inv_0', expect.stringContaining(`from=${newest.createdAt}`)])
  })

  test('shows the oldest calls first, without listing the later ones', async ({ line, server }) => {
    const later = Array.from({ length: 900 }, (_, n) => callAt(`inv_${900 - n}`, n + 1))
    server.answers(...Array<Step>(5).fill(gatewayWith([...later, callAt('inv_0', 29 * DAY)])))
    const { output } = await line.ask('gateway calls tail --since 30d --count 1 --json')
    expect(JSON.parse(output)).toMatchObject({ id: 'inv_0' })
    expect(server.requests.filter(({ url }) => url.includes('cursor'))).toEqual([])
  })

  test('shows a call that is admitted during a poll, regardless of the local clock', async ({ line, server }) => {
    const calls = [callAt('inv_1', 60), callAt('inv_0', 80)]
    const admitting: Step = (res, req) => {
      gatewayWith(calls)(res, req)
      calls.unshift(callAt('inv_2', 45))
    }
    server.answers(gatewayWith(calls), admitting, gatewayWith(calls))
    const { output } = await line.ask('gateway calls tail --since 90m --count 3 --json')
    expect(output.match(/inv_\d/g)).toEqual(['inv_0', 'inv_1', 'inv_2'])
  })

  test('shows each call of a long time once', async ({ line, server }) => {
    const minutes = (n: number) => 10 * DAY + Math.max(0, n - 150) / 100 // the first ones at one time
    const burst = Array.from({ length: 250 }, (_, n) => callAt(`inv_${300 - n}`, minutes(n)))
    const calls = [callAt('inv_400', 1), ...burst, callAt('inv_1', 20 * DAY, 'Open'), callAt('inv_0', 29 * DAY)]
    server.answers(...Array<Step>(80).fill(gatewayWith(calls)))
    const { output } = await line.ask(`gateway calls tail --since 30d --count ${calls.length} --json`)
    const ids = output.match(/inv_\d+/g)!
    expect(ids.slice(0, 251)).toEqual(['inv_0', ...burst.map(({ id }) => id).toReversed()])
    expect(ids.slice(251).toSorted()).toEqual(['inv_1', 'inv_400'])
  })
})

describe('invalid arguments:', () => {
  test.for<[string, number, string]>([
    ['gateway keys revoke  --yes', 2, 'needs key'],
    ['gateway executions show ..', 1, 'cannot be'],
    ['gateway flows run sbx-1 --input @none', 1, 'none: .*ENOENT'],
    ['gateway flows run sbx-1 --input @.', 1, 'EISDIR'],
    ['gateway calls list --limit abc', 2, 'abc'],
    ['gateway calls list --from 2026-13-01', 2, 'from'],
    ['gateway calls list --from 2026-02-31', 2, 'from'],
    ['gateway calls list --from 2026-04-31T10:00:00+02:00', 2, 'from'],
    ['gateway calls list --to 2025-02-29T00:00:00Z', 2, 'to'],
    ['gateway keys revoke -x --yes', 2, '-x'],
  ])('%s exits with %i and a sentence', async ([asked, code, says], { line }) => {
    expect(await line.ask(asked)).toMatchObject(reportsFailure(code, says))
  })
})

test('a day of a leap year, and a time whose UTC day is another one, are valid', async ({ line, server }) => {
  server.answers(json({ data: [], nextCursor: null }))
  expect(await line.ask('gateway calls list --from 2024-02-29 --to 2024-03-01T00:30:00+02:00')).toMatchObject({
    code: 0,
  })
  const { searchParams } = new URL(server.requests[0]!.url, server.url)
  expect([searchParams.get('from'), searchParams.get('to')]).toEqual([
    '2024-02-29T00:00:00.000Z',
    '2024-02-29T22:30:00.000Z',
  ])
})

test.for([
  ['@input.json', ''],
  ['-', '\uFEFF{"text":"a"}'],
] as const)('--input %s accepts a byte order mark', async ([from, input], { line, server }) => {
  await writeFile(path.join(line.folder, 'input.json'), '\uFEFF{"text":"a"}')
  server.answers(json({ revision: 1, atMostMicro: 5, last: { executions: 0, medianMicro: null, p90Micro: null } }))
  expect(await line.ask(`gateway flows estimate sbx-1 --input ${from}`, undefined, { input })).toMatchObject({
    code: 0,
  })
  expect(JSON.parse(server.requests[0]!.body)).toMatchObject({ input: { text: 'a' } })
})

describe('if output cannot be written, the CLI', () => {
  const made = json({ key: { id: 'key_1' }, secret: 'svc_secret', resolution: null }, 201)

  test('reports a full disk', async ({ line }) => {
    expect(await line.shell('gateway --help > /dev/full')).toMatchObject(reportsFailure(1, 'standard output.*ENOSPC'))
  })

  test('keeps its exit code if only messages are lost', async ({ line }) => {
    expect(await line.shell('gateway keys revoke 2> /dev/full')).toMatchObject({ code: 2 })
  })

  test('exits with 0 if the reader closes the pipe early', async ({ line }) => {
    expect(await line.shell('set -o pipefail; gateway --help | head -1')).toMatchObject({ code: 0 })
  })

  test.for(['> /dev/full', '| true'])('reports a secret that was lost: %s', async (to, { line, server }) => {
    server.answers(made)
    const ended = await line.shell(`set -o pipefail; gateway keys create x --json ${to}`)
    expect(ended).toMatchObject(reportsFailure(1, 'keys rotate key_1'))
  })
})

test('the CLI works in a deleted folder unless the command needs it', async ({ line, server }) => {
  server.answers(json({ data: [], nextCursor: null }))
  const gone = 'mkdir gone && cd gone && rmdir ../gone'
  expect(await line.shell(`${gone}; gateway keys list`)).toMatchObject({ code: 0 })
  expect(await line.shell(`${gone}; gateway flows push`)).toMatchObject(reportsFailure(1, 'no longer exists'))
})

test('askLine returns an empty line if the input is closed', async () => {
  for (const hidden of [true, false]) {
    const input = new PassThrough()
    const answer = askLine({ input, output: new PassThrough(), hidden }, () => {})
    input.end()
    expect(await answer).toBe('')
  }
  const input = new PassThrough()
  const answer = askLine({ input, output: new PassThrough(), hidden: false }, () => {})
  input.write('yes\n')
  expect(await answer).toBe('yes')
})
