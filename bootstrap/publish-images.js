import { runProgram } from './run.js'

await runProgram('deploy/src/publish-command.ts')
