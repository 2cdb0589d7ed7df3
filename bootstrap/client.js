import { runProgram } from './run.js'

await runProgram('clients/typescript/build/build-command.ts')
