import { runProgram } from './run.js'

await runProgram('tools/mutations/src/mutate-command.ts')
