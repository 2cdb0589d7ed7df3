import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { commandLineTest as test } from './src/command-line/command-line-test.ts'
import type { CommandLine } from './src/command-line/open-command-line.ts'
import { PASSWORD, signIn } from './src/console/users.ts'

// `gateway login` through a browser: the built command on a terminal, and the console in a browser (decision 20).

const LONGEST_WAIT = { timeout: 30_000 }

/** Starts `gateway login` with a browser stub that records the URL it is asked to open. */
async function beginLogin(line: CommandLine, env: Record<string, string> = {}) {
  const opened = path.join(line.home, 'opened.txt')
  await writeFile(opened, '')
  const browser = path.join(line.home, 'bin/xdg-open')
  await writeFile(browser, `#!/bin/sh\necho "$1" > '${opened}'\n`, { mode: 0o755 })
  const terminal = line.terminal('gateway login --url https://gateway.example', { isSignedIn: false, env })
  onTestFinished(terminal.close)
  await expect.poll(() => terminal.said.output, LONGEST_WAIT).toContain('(it is not shown): ')
  const shown = /^ {2}(http\S+)/m.exec(terminal.said.output)![1]!
  return {
    ...terminal,
    /** The URL printed for a browser on another machine. */
    shown,
    opened: async () => (await readFile(opened, 'utf8')).trim(),
  }
}

/** Gives the owner a password for signing in to the console. */
async function owner(line: CommandLine) {
  const { status } = await line.user.ask('PUT', '/api/v2/me/password', { password: PASSWORD })
  expect(status).toBe(204)
  return { email: `${line.owner}@example.test` }
}

const tokensOf = async ({ user }: CommandLine) => {
  const { body } = await user.ask('GET', '/api/v2/me/tokens')
  return (body as { data: { name: string }[] }).data.filter(({ name }) => name.startsWith('gateway on '))
}

test('gateway login signs in after confirmation in the browser, and logout deletes the token', async ({
  line,
  visit,
}) => {
  const { page } = await visit()
  const user = await owner(line)
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))

  const first = await beginLogin(line)
  await expect.poll(first.opened, LONGEST_WAIT).toMatch(/^http/)
  await page.goto(await first.opened())
  await signIn(page, user)
  await page.getByText(`as ${user.email}`).waitFor()
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.getByText('The command line is signed in').waitFor()
  const ended = await first.ended
  expect(ended).toMatchObject({ code: 0, output: expect.stringContaining(`${user.email}. Saved in`) as string })

  const kept = path.join(line.home, '.config/gateway/profiles.json')
  const { token } = (JSON.parse(await readFile(kept, 'utf8')) as { default: { token: string } }).default
  expect((await stat(kept)).mode & 0o777).toBe(0o600)
  expect(ended.output + addresses.join()).not.toContain(token)
  expect((await line.shell('gateway whoami', { isSignedIn: false })).output).toContain(user.email)
  expect(await tokensOf(line)).toHaveLength(1)

  const second = await beginLogin(line)
  await expect.poll(second.opened, LONGEST_WAIT).toMatch(/^http/)
  await page.goto(await second.opened())
  await page.getByLabel('Token name').fill('gateway on my machine')
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.getByRole('link', { name: 'View tokens' }).click()
  await page.getByText('gateway on my machine').waitFor()
  expect(await second.ended).toMatchObject({ code: 0 })
  expect(await tokensOf(line)).toMatchObject([{ name: 'gateway on my machine' }]) // replaces the previous one

  expect(await line.shell('gateway logout', { isSignedIn: false })).toMatchObject({ code: 0 })
  expect(await tokensOf(line)).toEqual([])
  expect(await line.shell('gateway whoami', { isSignedIn: false })).toMatchObject({ code: 3 })
})

test('gateway login over SSH accepts a pasted code, opens no browser, and refuses the code in another login', async ({
  line,
  visit,
}) => {
  const { page } = await visit()
  const login = await beginLogin(line, { SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' })
  await page.goto(login.shown)
  await signIn(page, await owner(line))
  await page.getByRole('button', { name: 'Authorize' }).click()
  const code = (await page.locator('pre').textContent())!
  expect(await login.opened()).toBe('')

  const theirs = await beginLogin(line, { SSH_CONNECTION: '192.0.2.9 50000 192.0.2.2 22' })
  theirs.type(`${code}\n`)
  const refused = await theirs.ended
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('belongs to another sign-in') as string })
  expect(refused.output).toContain('Resolution: Begin again')

  login.type(`${code}\n`)
  const ended = await login.ended
  expect(ended).toMatchObject({ code: 0, output: expect.stringContaining('Signed in at') as string })
  expect(ended.output).not.toContain(code)
  expect((await line.shell('gateway whoami', { isSignedIn: false })).code).toBe(0)
})

test('gateway login ignores requests that guess its port and completes the sign-in', async ({ line, visit }) => {
  const { page } = await visit()
  const login = await beginLogin(line)
  await expect.poll(login.opened, LONGEST_WAIT).toMatch(/^http/)
  const asked = new URL(await login.opened()).searchParams
  const at = `http://127.0.0.1:${asked.get('port')}`
  for (const address of [
    '/',
    '/?code=stolen',
    '/?code=stolen&state=none',
    `/x?code=stolen&state=${asked.get('state')}`,
  ])
    expect((await fetch(at + address)).status).toBe(404)
  expect((await fetch(`${at}/?code=stolen&state=${asked.get('state')}`, { method: 'POST' })).status).toBe(404)

  login.type('\u0004') // Ctrl-D: end of input
  await page.goto(await login.opened())
  await signIn(page, await owner(line))
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.getByText('The command line is signed in').waitFor()
  expect(await login.ended).toMatchObject({ code: 0 })
})

test('gateway login reports an unusable code in the browser too and stores nothing', async ({ line }) => {
  const login = await beginLogin(line)
  await expect.poll(login.opened, LONGEST_WAIT).toMatch(/^http/)
  const asked = new URL(await login.opened()).searchParams
  const answer = await fetch(
    `http://127.0.0.1:${asked.get('port')}/?code=${'c'.repeat(43)}&state=${asked.get('state')}`,
  )
  expect([answer.status, await answer.text()]).toEqual([
    400,
    'The command line is not signed in. See the terminal for how to fix it.',
  ])
  expect(await login.ended).toMatchObject({ code: 1, output: expect.stringContaining('Resolution: ') as string })
  expect(await line.shell('gateway profiles', { isSignedIn: false })).toMatchObject({ code: 0, output: '' })
})

test('gateway login deletes a token that it cannot store and reports no sign-in in the browser', async ({
  line,
  visit,
}) => {
  const { page } = await visit()
  const login = await beginLogin(line)
  await expect.poll(login.opened, LONGEST_WAIT).toMatch(/^http/)
  await mkdir(path.join(line.home, '.config/gateway/profiles.json'), { recursive: true }) // a folder in place of the file
  await page.goto(await login.opened())
  await signIn(page, await owner(line))
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.getByText('The command line is not signed in. See the terminal for how to fix it.').waitFor()
  expect(await login.ended).toMatchObject({ code: 1, output: expect.stringContaining('Resolution: ') as string })
  expect(await tokensOf(line)).toEqual([])
})
