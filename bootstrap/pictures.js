import { runProgram } from './run.js'

await runProgram('scenarios/src/pictures/pictures-command.ts')
