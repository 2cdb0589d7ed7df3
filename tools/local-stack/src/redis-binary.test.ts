import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test as base } from 'vitest'
import { findRedis } from './redis-binary.ts'

// External programs that findRedis searches for are small shell scripts, in a PATH with nothing else.

// oxlint-disable-next-line no-empty-pattern -- vitest reads from this pattern what a fixture needs
const test = base.extend('machine', async ({}, { onCleanup }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-test-redis-'))
  onCleanup(() => rm(folder, { recursive: true }))
  const [bin, cacheFolder] = [path.join(folder, 'bin'), path.join(folder, 'cache')]
  await mkdir(bin)
  await symlink('/usr/bin/env', path.join(bin, 'env'))
  const lines: string[] = []
  return {
    lines,
    /** Adds a program; one in the cache is what unpacking the distribution's package leaves. */
    async program(name: string, script: string, where: 'bin' | 'cache' = 'bin') {
      const place = where === 'bin' ? bin : path.join(cacheFolder, 'usr/bin')
      await mkdir(place, { recursive: true })
      await writeFile(path.join(place, name), `#!/bin/sh\n${script}\n`)
      await chmod(path.join(place, name), 0o755)
    },
    find: () => findRedis({ cacheFolder, log: (line) => lines.push(line), env: { PATH: bin } }),
  }
})

/** An engine that responds, with these reactions to commands for an image. */
const docker = (inspect: string, pull: string) =>
  `case "$1" in info) echo 29.0;; image) ${inspect};; pull) ${pull};; *) exit 64;; esac`
const unreachable = `echo 'Error response from daemon: no route to the registry' >&2; exit 1`

test('findRedis prefers a server on the PATH', async ({ machine }) => {
  await machine.program('valkey-server', 'exit 0')
  await machine.program('docker', docker('exit 0', 'exit 0'))
  expect(await machine.find()).toEqual({ from: 'path', command: ['valkey-server'] })
})

test('findRedis uses a Docker engine that has the image or can fetch it', async ({ machine }) => {
  await machine.program('docker', docker('exit 0', unreachable))
  expect(await machine.find()).toEqual({ from: 'docker', command: ['docker'] })
  expect(machine.lines).toEqual([])
  await machine.program('docker', docker('exit 1', 'exit 0'))
  expect(await machine.find()).toEqual({ from: 'docker', command: ['docker'] })
  expect(machine.lines).toEqual(['Redis: Docker fetches redis:8.2-alpine'])
})

test('findRedis logs why Docker cannot fetch the image, and uses the package of the distribution', async ({
  machine,
}) => {
  await machine.program('docker', docker('exit 1', unreachable))
  await machine.program('redis-server', 'exit 0', 'cache')
  expect(await machine.find()).toMatchObject({ from: 'debian' })
  expect(machine.lines.at(-1)).toBe(
    "Redis: Docker can't fetch redis:8.2-alpine: Error response from daemon: no route to the registry; continuing with the package of this distribution",
  )
})

test('findRedis reports what it tried and how to fix it if it finds no server', async ({ machine }) => {
  await machine.program('docker', docker('exit 1', unreachable))
  const failure = machine.find()
  await expect(failure).rejects.toThrow(/set REDIS_URL to another Redis/)
  await expect(failure).rejects.toThrow(/Docker can't fetch redis:8\.2-alpine: .*no route to the registry/)
})
