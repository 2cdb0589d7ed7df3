import { spawn } from 'node:child_process'
import path from 'node:path'
import type { BenchDeps } from '../bench.ts'
import { describeRun } from '../report/machine.ts'
import { keepProcessorsBusy } from './busy-processors.ts'

// scenarios/crashes.scenario.ts, as often as it is told, with a busy loop on each processor beside it: what only happens on a machine that is
// slow and loaded happens here, sooner or later. Each round is a stack of its own.

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const SCENARIO = 'scenarios/crashes.scenario.ts'
const LAST_LINES = 60

export async function crashes({ options: { rounds }, stops, tell }: BenchDeps): Promise<string> {
  const busy = keepProcessorsBusy()
  stops.add(busy.stop)
  const failed: number[] = []
  const tookMs: number[] = []
  for (let round = 1; round <= rounds; round++) {
    const startMs = performance.now()
    const { passed, output } = await runScenario(stops)
    tookMs.push(performance.now() - startMs)
    if (!passed) failed.push(round)
    tell(`round ${round} of ${rounds}: ${passed ? 'passed' : 'FAILED'} after ${(tookMs.at(-1)! / 1_000).toFixed(0)} s`)
    if (!passed) tell(output.split('\n').slice(-LAST_LINES).join('\n'))
  }
  if (failed.length > 0) throw new Error(`${failed.length} of ${rounds} rounds failed: ${failed.join(', ')}.`)
  const slowestS = Math.max(...tookMs) / 1_000
  return `${await describeRun(new Date())}

\`${SCENARIO}\` ${rounds} times in a row, with ${busy.count} busy loops beside it on as many processors: **${rounds} passed, 0 failed**. The slowest round took
${slowestS.toFixed(0)} s.
`
}

function runScenario(stops: BenchDeps['stops']): Promise<{ passed: boolean; output: string }> {
  const vitest = path.join(projectFolder, 'node_modules/vitest/vitest.mjs')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, 'run', SCENARIO], { cwd: projectFolder, env: process.env })
    stops.add(async () => void child.kill('SIGTERM'))
    let output = ''
    child.stdout.on('data', (text) => (output += String(text)))
    child.stderr.on('data', (text) => (output += String(text)))
    child.on('error', reject)
    child.on('close', (code) => resolve({ passed: code === 0, output }))
  })
}
