// `npm run check`: format, types, lint, dead code, what is said twice, and old words. Nothing is started.
import { runChecks } from './checks.js'
import { ensureInstalled } from './install.js'

await ensureInstalled()
const failures = await runChecks()
for (const failure of failures) process.stdout.write(`\n  FAILED: ${failure}`)
process.stdout.write(failures.length === 0 ? '  All checks passed.\n' : '\n')
process.exitCode = failures.length === 0 ? 0 : 1
