import { runProgram } from './run.js'

await runProgram('clients/cli/src/build-command.ts')
