import { runProgram } from './run.js'

await runProgram('tools/bundler/src/images-command.ts')
