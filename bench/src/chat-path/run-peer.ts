import { pathToFileURL } from 'node:url'

// Runs a third-party program, and ends it when its starter is gone. Arguments: its file, then its own arguments.

const [file, ...args] = process.argv.slice(2)
process.stdin.resume().once('close', () => process.exit(0))
process.argv = [process.argv[0]!, file!, ...args]
await import(pathToFileURL(file!).href)
