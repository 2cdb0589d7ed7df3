import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReadyFacts } from './ready-facts.ts'

const starter = path.join(import.meta.dirname, 'fixtures/small-stack.ts')
const started: ChildProcess[] = []
let folder = ''
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'stack-'))))
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await once(child, 'exit')
  }
  rmSync(folder, { recursive: true, force: true })
})

function startStarter(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [starter], {
    env: { PATH: process.env['PATH'], DATA_FOLDER: folder, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let output = ''
  const ready = Promise.withResolvers<void>()
  child.stdout.on('data', (text) => {
    output += String(text)
    if (output.includes('ready\n')) ready.resolve()
  })
  child.stderr.on('data', (text) => (output += String(text)))
  const ended = once(child, 'exit').then(([code, signal]) => {
    ready.reject(new Error(`It ended with ${code ?? signal}.\n${output}`))
    return code as number | null
  })
  return { child, ready: ready.promise, ended, output: () => output }
}

function readyFacts(): ReadyFacts {
  return JSON.parse(readFileSync(path.join(folder, 'ready.json'), 'utf8')) as ReadyFacts
}

/** All processes that this one started, directly or indirectly. */
function descendantsOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const parents = rows.map((row) => row.trim().split(/\s+/).map(Number))
  const below = (parent: number): number[] =>
    parents.flatMap(([child = 0, of]) => (of === parent ? [child, ...below(child)] : []))
  return below(pid)
}

/** Those still running. A zombie does not count. */
function stillRunning(pids: number[]): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,stat='], { encoding: 'utf8' }).trim().split('\n')
  const running = new Set(rows.filter((row) => !row.includes('Z')).map((row) => Number.parseInt(row.trim(), 10)))
  return pids.filter((pid) => running.has(pid))
}

test('the stack starts in order, prints each step, and writes ready.json for this user only', async () => {
  const stack = startStarter()
  await stack.ready
  const steps = stack.output().match(/^ {2}[a-z]+( [a-z]+)?(?= .*\d s$)/gm)
  const expected = [
    'postgres',
    'redis',
    'migrations',
    'simulated provider',
    'ledger',
    'console',
    'worker',
    'gateway',
    'seed',
  ]
  expect(steps?.map((step) => step.trim())).toEqual(expected)

  const facts = readyFacts()
  expect(facts).toMatchObject({ tenant: 'acme', project: 'prj_1', models: ['acme/swift'] })
  for (const url of [facts.baseUrl, facts.consoleUrl, facts.providerControl.replace(/\/control$/, '')]) {
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  }
  expect(facts.metrics).toHaveLength(4)
  for (const url of facts.metrics) {
    expect(new URL(url).hostname).toBe('127.0.0.1')
    expect(await (await fetch(url)).text()).toContain('target_info')
    await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow('fetch failed') // on that address only
  }
  for (const file of ['ready.json', 'secrets.json', 'seeded.json']) {
    expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600)
  }
})

test('SIGTERM stops everything without leftovers, and the next start finds the seeded data', async () => {
  const first = startStarter()
  await first.ready
  const { key } = readyFacts()
  const processes = descendantsOf(first.child.pid ?? 0)
  expect(processes.length).toBeGreaterThanOrEqual(9) // five programs, and a watchdog and a server each for Postgres and Redis
  first.child.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  await expect.poll(() => stillRunning(processes)).toEqual([]) // a watchdog ends last
  expect(existsSync(path.join(folder, 'ready.json'))).toBe(false)

  const second = startStarter()
  await second.ready
  expect(readyFacts().key).toBe(key)
})

test('SIGTERM stops everything in order after the reader of the output is gone', async () => {
  const stack = startStarter()
  await stack.ready
  stack.child.stdout.destroy()
  stack.child.kill('SIGTERM')
  expect(await stack.ended).toBe(0)
  expect(existsSync(path.join(folder, 'ready.json'))).toBe(false)
})

test('a cut seeded.json is reported, and the seed makes new secrets', async () => {
  const file = path.join(folder, 'seeded.json')
  writeFileSync(file, '{"key": "svc_')
  const stack = startStarter()
  await stack.ready
  expect(stack.output()).toContain(`${file} is damaged: making new keys and passwords`)
  expect(readyFacts().key).toMatch('key made at')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ key: readyFacts().key })
})

test('kill -9 of the starter leaves no process behind', async () => {
  const stack = startStarter()
  await stack.ready
  const processes = descendantsOf(stack.child.pid ?? 0)
  expect(processes.length).toBeGreaterThanOrEqual(9)
  stack.child.kill('SIGKILL')
  await stack.ended
  await expect.poll(() => stillRunning(processes), { timeout: 30_000 }).toEqual([])
})

test('a port in use fails the start with the variable to change, before anything starts', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  const stack = startStarter({ PORT: String(port) })
  await expect(stack.ready).rejects.toThrow(`PORT: ${port} is taken. Stop what listens there, or choose another`)
  holder.close()
  expect(existsSync(path.join(folder, 'postgres'))).toBe(false)
})

test('a port that is taken while the stack starts fails the start with the variable to change', async () => {
  // Below the ephemeral ports, so that no outgoing connection takes it before.
  const listen = async (port: number) => {
    const holder = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
    await once(holder, 'listening')
    return { port, free: () => once(holder.close(), 'close') }
  }
  const { port, free } = await listen(randomInt(10_000, 32_768))
  await free()
  const stack = startStarter({ CONSOLE_PORT: String(port) })
  await once(stack.child.stdout, 'data') // Postgres runs; Redis and the migrations come before the console
  const taken = await listen(port)
  await expect(stack.ready).rejects.toThrow(
    `CONSOLE_PORT: ${port} is taken. Stop what listens there, or choose another`,
  )
  await taken.free()
  expect(stack.output()).not.toMatch(/(?<!CONSOLE_)PORT: /)
})
