import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

test('an interrupted install is not taken for the one before it', async () => {
  const project = mkdtempSync(path.join(tmpdir(), 'install-'))
  onTestFinished(() => rmSync(project, { recursive: true, force: true }))
  const file = (name: string) => path.join(project, name)
  mkdirSync(file('bootstrap'))
  for (const name of ['tool.js', 'run.js', 'install.js']) {
    cpSync(path.join(import.meta.dirname, name), file(`bootstrap/${name}`))
  }
  writeFileSync(file('package.json'), '{ "type": "module" }')
  mkdirSync(file('node_modules/.bin'), { recursive: true })
  writeFileSync(file('node_modules/.installed'), 'the stamp of another checkout')
  // Stands in for npm's: an install that does not end.
  writeFileSync(file('node_modules/.bin/npx'), `#!/bin/sh\necho $$ > '${file('installing')}'\nexec sleep 600\n`, {
    mode: 0o755,
  })
  const child = spawn(process.execPath, [file('bootstrap/tool.js'), 'node'], { stdio: 'ignore' })
  await expect.poll(() => existsSync(file('installing')) && readFileSync(file('installing'), 'utf8')).toMatch(/\n$/)
  child.kill('SIGKILL')
  await once(child, 'exit')
  process.kill(Number(readFileSync(file('installing'), 'utf8')), 'SIGKILL')
  expect(existsSync(file('node_modules/.installed'))).toBe(false)
})
