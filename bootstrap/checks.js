import { join } from 'node:path'
import { collect, projectFolder } from './install.js'

/** What `npm run check` runs, and `npm test` before the tests: title, tool, arguments and, where there is one, the command that mends it. */
const checks = [
  { title: 'format', tool: 'oxfmt', args: ['--check', '.'], resolution: 'npm run format' },
  { title: 'types', tool: 'tsc', args: ['--noEmit', '-p', 'tsconfig.json'] },
  { title: "types of the console's page", tool: 'tsc', args: ['--noEmit', '-p', 'packages/console-page'] },
  { title: 'lint and import directions', tool: 'oxlint', args: ['--type-aware', '--deny-warnings', '.'] },
  { title: 'dead code', tool: 'knip', args: ['--no-progress', '--no-config-hints'] },
  { title: 'said twice', tool: 'jscpd', args: ['--exit-code', '1', '.'] },
  { title: 'prose', tool: 'node', args: [join(projectFolder, 'bootstrap/prose.ts')] },
]

/** Runs every check, tells of each, and answers the titles of those that failed. */
export async function runChecks() {
  const failures = []
  for (const { title, tool, args, resolution } of checks) {
    const startedAt = performance.now()
    const { code, output } = await collect(join(projectFolder, 'node_modules', '.bin', tool), args)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    process.stdout.write(`  ${title.padEnd(28)}${code === 0 ? 'ok' : 'FAILED'}  ${seconds} s\n`)
    if (code === 0) continue
    process.stdout.write(`${output}\n`)
    failures.push(resolution ? `${title} (${resolution} mends it)` : title)
  }
  return failures
}
