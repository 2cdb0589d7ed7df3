import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test as base } from 'vitest'
import { findChromium, findShell } from './find-program.ts'

// External programs that tests need are small shell scripts, in a PATH with nothing else except flock.

const flock = '/usr/bin/flock'

// oxlint-disable-next-line no-empty-pattern -- vitest reads from this pattern what a fixture needs
const test = base.extend('machine', async ({}, { onCleanup }) => {
  const bin = await mkdtemp(path.join(tmpdir(), 'svc-test-chromium-'))
  onCleanup(() => rm(bin, { recursive: true }))
  const program = async (name: string, script = 'exit 0') => {
    const file = path.join(bin, name)
    await writeFile(file, `#!/bin/sh\n${script}\n`)
    await chmod(file, 0o755)
    return file
  }
  await program('flock', `exec ${flock} "$@"`)
  const machine = (env: NodeJS.ProcessEnv, isRoot: boolean) => ({ log: () => {}, env: { PATH: bin, ...env }, isRoot })
  return {
    bin,
    program,
    find: (env: NodeJS.ProcessEnv = {}, isRoot = false) => findChromium(machine(env, isRoot)),
    shell: (name: string, isRoot: boolean) => findShell(name, machine({}, isRoot)),
  }
})

test('findChromium prefers the program in CHROMIUM, which has to run', async ({ machine }) => {
  await machine.program('chromium')
  const own = await machine.program('my-browser')
  expect(await machine.find({ CHROMIUM: own })).toBe(own)
  await expect(machine.find({ CHROMIUM: '/none' })).rejects.toThrow('CHROMIUM is /none, which does not run.')
})

test('findChromium uses any program that runs, and skips one that does not', async ({ machine }) => {
  await machine.program('chromium', 'exit 1')
  const chrome = await machine.program('google-chrome')
  expect(await machine.find()).toBe(chrome)
})

test('findChromium installs the distribution package as root, and refreshes the lists if needed', async ({
  machine,
}) => {
  const file = await machine.program('chromium-later')
  const folder = path.dirname(file)
  const script = `case "$*" in
    *update*) : > ${folder}/updated;;
    *install*) [ -e ${folder}/updated ] || exit 100; /bin/cp ${file} ${folder}/chromium;;
  esac`
  await machine.program('apt-get', script)
  expect(await machine.find({}, true)).toBe(`${folder}/chromium`)
})

test('findChromium reports how to fix it if there is no browser', async ({ machine }) => {
  await expect(machine.find()).rejects.toThrow(/set CHROMIUM to the program of one[\s\S]*needs root/)
  await expect(machine.find({}, true)).rejects.toThrow(/failed: .*apt-get/)
})

test('findShell installs shells too, and concurrent installations wait for each other', async ({
  machine: { bin, program, shell },
}) => {
  // Like apt-get, it fails if another one is running.
  const script = `name=; for name; do :; done
    /bin/mkdir ${bin}/working || exit 100
    /bin/sleep 0.1
    printf '#!/bin/sh\n' > ${bin}/$name; /bin/chmod 755 ${bin}/$name
    /bin/rmdir ${bin}/working`
  await program('apt-get', script)
  const found = await Promise.all(['zsh', 'fish'].map((name) => shell(name, true)))
  expect(found).toEqual([`${bin}/zsh`, `${bin}/fish`])
  await expect(shell('tcsh', false)).rejects.toThrow(/tcsh is needed[\s\S]*needs root/)
})
