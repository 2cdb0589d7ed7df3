import { runProgram } from './run.js'

await runProgram('deploy/src/pin-command.ts')
