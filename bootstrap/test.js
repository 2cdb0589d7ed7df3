// `npm test`: every check, and the tests that a change can break. At the end `N passed, N failed`.
// `npm run test:full`: the same, and then everything else: kills, browsers, foreign clients, shells.
// `npm test -- <filter>`: only the tests whose file matches, of both. `--project unit`: only those of that kind.
// `--shard=1/3`: a part of the files, without the checks, for machines that share the work.
// `--times`: prints the time and the processes of each file in addition to those of each layer.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runChecks } from './checks.js'
import { ensureInstalled, environment, projectFolder } from './install.js'
import { failedLines, readReport, skippedLines, timesTable } from './test-report.js'

const args = process.argv.slice(2)
const flags = new Set(['--full', '--times'])
const shard = args.filter((arg) => arg.startsWith('--shard='))
const filter = args.filter((arg) => !flags.has(arg) && !shard.includes(arg))
const isFull = args.includes('--full')
const tiers = [['unit', 'page', 'live', 'scenario'], ...(isFull ? [['page-full', 'full', 'full-alone']] : [])]

await ensureInstalled()
const failures = args.every((arg) => flags.has(arg)) ? await runChecks() : []
if (filter.length > 0)
  process.stdout.write(`  Only tests that match ${filter.join(' ')}; npm run check runs the checks.\n`)

const rows = []
if (filter.length > 0) rows.push(...(await runTests(filter)))
else
  for (const tier of tiers) rows.push(...(await runTests([...tier.flatMap((name) => ['--project', name]), ...shard])))

if (rows.length > 0) process.stdout.write(`\n${timesTable(rows, 'layer')}`)
if (args.includes('--times')) process.stdout.write(`\n${timesTable(rows, 'file')}`)
if (skippedLines(rows).length > 0) process.stdout.write(`\n${skippedLines(rows).join('')}`)
if (failedLines(rows).length > 0) process.stdout.write(`\n${failedLines(rows).join('')}`)
for (const failure of failures) process.stdout.write(`\n  FAILED: ${failure}`)
const count = (state) => rows.reduce((sum, row) => sum + row[state], 0)
process.stdout.write(`\n${count('passed')} passed, ${count('failed') + failures.length} failed\n`)
process.exitCode = count('failed') + failures.length > 0 ? 1 : 0

async function runTests(selection) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tests-'))
  const [report, starts] = [join(folder, 'report.json'), join(folder, 'starts')]
  const startedAt = performance.now()
  process.stdout.write('  tests\n')
  const reporters = ['--reporter=default', `--reporter=${join(projectFolder, 'bootstrap/test-report.js')}`]
  const vitest = join(projectFolder, 'node_modules', '.bin', 'vitest')
  const env = environment({ TEST_REPORT: report, TEST_STARTS: starts, ...(isFull && { TEST_TIER: 'full' }) })
  const code = await stream(vitest, ['run', ...reporters, ...selection], env)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  process.stdout.write(`  ${'tests'.padEnd(28)}${code === 0 ? 'ok' : 'FAILED'}  ${seconds} s\n`)
  const found = readReport(report, starts)
  rmSync(folder, { recursive: true, force: true })
  // For example an error outside of any test, or no test at all.
  if (code !== 0 && found.every(({ failed }) => failed === 0)) failures.push('the test run itself')
  return found
}

function stream(command, given, env) {
  return new Promise((resolve) => {
    const child = spawn(command, given, { cwd: projectFolder, env, stdio: 'inherit' })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    child.on('error', () => resolve(1))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}
