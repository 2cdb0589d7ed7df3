import { runProgram } from './run.js'

await runProgram('deploy/src/renew-command.ts')
