import { runProgram } from './run.js'

await runProgram('scenarios/spec/spec-command.ts')
