import { runProgram } from './run.js'

await runProgram('bench/src/main.ts')
