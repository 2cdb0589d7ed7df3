import { runProgram } from './run.js'

await runProgram('tools/local-stack/src/main.ts', { tied: true })
