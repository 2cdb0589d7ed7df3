import { runProgram } from './run.js'

await runProgram('packages/local-stack/src/main.ts', { tied: true })
