#!/usr/bin/env node
// Plain JavaScript for any Node >= 20, since programs start this with the Node that they have: one that runs TypeScript continues by
// itself, an older one hands over to the one that was installed with this project.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = new URL('../src/main.ts', import.meta.url)
const installed = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url))

if (process.features.typescript) await import(main)
else if (existsSync(installed)) standIn()
else {
  process.stderr.write(
    'gateway-mcp-bridge needs Node 24. Run npm install in the project folder, or use a newer Node.\n',
  )
  process.exit(1)
}

function standIn() {
  const child = spawn(installed, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => process.exit(code ?? 1))
}
