import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface Check {
  scenario: string
  id: string
  status: string
  message: string
}

export interface ConformanceRun {
  /** 0 if exactly the expected checks failed. */
  exitCode: number
  checks: Check[]
  /** Combined stdout and stderr, for diagnosis. */
  said: string
}

/** Runs the official suite's server requirements for a protocol revision. */
export function runConformance(url: URL, revision: string, expectedFailures: string[]): Promise<ConformanceRun> {
  return runSuite(url, ['--requirements', revision], expectedFailures)
}

/** Runs one scenario of the suite. */
export function runScenario(url: URL, revision: string, scenario: string): Promise<ConformanceRun> {
  return runSuite(url, ['--scenario', scenario, '--spec-version', revision], [])
}

async function runSuite(url: URL, which: string[], expectedFailures: string[]): Promise<ConformanceRun> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mcp-conformance-'))
  try {
    const baseline = path.join(folder, 'baseline.yml')
    await writeFile(baseline, `server:\n${expectedFailures.map((entry) => `  - ${entry}\n`).join('')}`)
    const results = path.join(folder, 'results')
    const baselined = expectedFailures.length > 0 ? ['--expected-failures', baseline] : []
    const args = ['server', '--url', url.href, ...which, ...baselined, '-o', results]
    const { exitCode, said } = await run([suite(), ...args])
    return { exitCode, said, checks: await readChecks(results) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function suite(): string {
  return createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js')
}

function run(args: string[]): Promise<{ exitCode: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), said: stdout + stderr }),
    )
  })
}

async function readChecks(results: string): Promise<Check[]> {
  const all: Check[] = []
  for (const folder of (await readdir(results)).toSorted()) {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\dZ-]+$/, '')
    const checks = JSON.parse(await readFile(path.join(results, folder, 'checks.json'), 'utf8')) as {
      id: string
      status: string
      errorMessage?: string
    }[]
    for (const { id, status, errorMessage = '' } of checks) all.push({ scenario, id, status, message: errorMessage })
  }
  return all
}
