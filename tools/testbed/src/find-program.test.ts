import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test as base } from 'vitest'
import { findChromium } from './chromium-binary.ts'
import { findShell } from './shell-binary.ts'

// The programs of others that tests need are small shell scripts here, in a PATH that has nothing else but flock.

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

test('the one that CHROMIUM names comes before those on the PATH, and has to run', async ({ machine }) => {
  await machine.program('chromium')
  const own = await machine.program('my-browser')
  expect(await machine.find({ CHROMIUM: own })).toBe(own)
  await expect(machine.find({ CHROMIUM: '/none' })).rejects.toThrow('CHROMIUM is /none, which does not run.')
})

test('any that runs will do, and one that does not run is passed over', async ({ machine }) => {
  await machine.program('chromium', 'exit 1')
  const chrome = await machine.program('google-chrome')
  expect(await machine.find()).toBe(chrome)
})

test('root installs the package of the distribution, with its lists read again where that is needed', async ({
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

test('without any of them the message says what mends it', async ({ machine }) => {
  await expect(machine.find()).rejects.toThrow(/set CHROMIUM to the program of one[\s\S]*needs root/)
  await expect(machine.find({}, true)).rejects.toThrow(/did not work: .*apt-get/)
})

test('shells are installed as well, and two at once wait for each other', async ({
  machine: { bin, program, shell },
}) => {
  // As apt-get does: anyone who finds another one at work gives up.
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
