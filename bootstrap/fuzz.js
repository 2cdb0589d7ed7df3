import { runProgram } from './run.js'

await runProgram('tools/fuzz/src/fuzz-command.ts')
