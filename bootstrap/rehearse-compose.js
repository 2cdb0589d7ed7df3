import { runProgram } from './run.js'

await runProgram('deploy/src/rehearse-command.ts')
