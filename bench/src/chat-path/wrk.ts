import { execFile } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const script = path.join(import.meta.dirname, 'chat.lua')

export interface WrkLoad {
  url: string
  headers: Record<string, string>
  body: string
  connections: number
  lastsMs: number
}

export interface WrkSample {
  /** Responses with a status below 400. */
  calls: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

export type Wrk = (load: WrkLoad) => Promise<WrkSample>

/**
 * The load generator wrk, in a separate process: it is written in C, so it leaves both cores to the measured services.
 * Taken from the PATH; otherwise the package of Debian or Ubuntu is unpacked into `folder`, which needs no permissions.
 */
export async function findWrk(folder: string, log: (line: string) => void): Promise<Wrk> {
  const onPath = { command: 'wrk', env: {} }
  const found = (await works(onPath)) ? onPath : await unpacked(folder, log)
  return (load) => measure(found, load)
}

interface Found {
  command: string
  env: Record<string, string>
}

async function measure({ command, env }: Found, { url, headers, body, connections, lastsMs }: WrkLoad) {
  const seconds = Math.max(1, Math.round(lastsMs / 1000)) // wrk accepts only whole seconds
  const { stdout } = await run(
    command,
    [
      '--threads=1',
      `--connections=${connections}`,
      `--duration=${seconds}s`,
      '--timeout=10s',
      `--script=${script}`,
      url,
      '--',
      body,
      ...Object.entries(headers).flat(),
    ],
    { env: { ...process.env, ...env }, timeout: (seconds + 30) * 1000 },
  )
  const last = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Record<
    'calls' | 'tookUs' | 'p50Us' | 'p99Us' | 'refused' | 'broken',
    number
  >
  if (last.refused + last.broken > 0 || last.calls === 0)
    throw new Error(`${url}: of ${last.calls} calls ${last.refused} were refused and ${last.broken} broke off.`)
  return {
    calls: last.calls,
    perSecond: (last.calls * 1e6) / last.tookUs,
    p50Ms: last.p50Us / 1000,
    p99Ms: last.p99Us / 1000,
  }
}

async function unpacked(folder: string, log: (line: string) => void): Promise<Found> {
  const there = await findUnpacked(folder)
  if (there) return there
  log('Unpacking wrk from the package of this distribution')
  await mkdir(folder, { recursive: true })
  const options = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : []
  const problem = await unpack(folder, options).then(
    () => null,
    (error: Error) => error.message,
  )
  const found = await findUnpacked(folder)
  if (found) return found
  throw new Error(
    `The load generator wrk is needed: install it (Debian: apt-get install wrk; macOS: brew install wrk).${problem ? `\n(Unpacking the Debian package failed: ${problem})` : ''}`,
  )
}

async function unpack(folder: string, options: string[]): Promise<void> {
  const { stdout: plan } = await run('apt-get', ['-q', ...options, 'install', '--simulate', 'wrk'])
  const lacking = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1]!)
  await run('apt-get', ['-q', ...options, 'download', ...lacking], { cwd: folder })
  for (const file of await readdir(folder))
    if (file.endsWith('.deb')) await run('dpkg', ['-x', path.join(folder, file), folder])
}

async function findUnpacked(folder: string): Promise<Found | null> {
  const triplets = await readdir(path.join(folder, 'usr/lib')).catch(() => [])
  const libraries = triplets.map((triplet) => path.join(folder, 'usr/lib', triplet))
  const found = { command: path.join(folder, 'usr/bin/wrk'), env: { LD_LIBRARY_PATH: libraries.join(':') } }
  return (await works(found)) ? found : null
}

/** It prints its version with exit code 1. */
async function works({ command, env }: Found): Promise<boolean> {
  return run(command, ['--version'], { env: { ...process.env, ...env } }).then(
    () => true,
    (error: { stdout?: string }) => error.stdout?.startsWith('wrk') ?? false,
  )
}
