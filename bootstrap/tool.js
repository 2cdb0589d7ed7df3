import { runTool } from './run.js'

const [name, ...args] = process.argv.slice(2)
await runTool(name, args)
