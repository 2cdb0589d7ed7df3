import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { dockerTargets } from './dockerfile.ts'
import { buildArguments, published, withRelease } from './publish.ts'
import { canRender, projectFolder, renderFolder } from './render.ts'

const release = { registry: 'registry.example.net/models', version: '1.2.3', revision: 'f'.repeat(40) }
const digestOf = (name: string) => `sha256:${Buffer.from(name).toString('hex').padEnd(64, '0')}`
const digests = new Map(published.map((name) => [name, digestOf(name)]))
const overlay = 'overlays/production/kustomization.yaml'

test('every image of a real stack is published under the version, with its packages and provenance', () => {
  expect(published.toSorted()).toEqual(
    Object.keys(dockerTargets())
      .filter((name) => name !== 'provider')
      .toSorted(),
  )
  const line = buildArguments('ledger', release, '/m.json').join(' ')
  expect(line).toContain('--target ledger --tag registry.example.net/models/ledger:1.2.3 ')
  expect(line).toContain(`--label org.opencontainers.image.revision=${release.revision} `)
  expect(line).toContain('--sbom=true --provenance=mode=max --push --metadata-file /m.json .')
})

test.skipIf(!(await canRender()))('an overlay with a release runs these images, and no others', async () => {
  const manifests = await renderFolder('overlays/production', async (copy) => {
    const file = path.join(copy, overlay)
    await writeFile(file, withRelease(await readFile(file, 'utf8'), release, digests))
  })
  const used = new Set(JSON.stringify(manifests).match(/"image":"[^"]+"/g))
  expect([...used].toSorted()).toEqual(
    published.map((name) => `"image":"${release.registry}/${name}:1.2.3@${digestOf(name)}"`).toSorted(),
  )
})

test('an overlay that does not name an image is refused', () => {
  const text = readFileSync(path.join(projectFolder, 'deploy/kubernetes', overlay), 'utf8')
  const without = text.replace(/^.*model-gateway\/worker,.*$/m, '')
  expect(() => withRelease(without, release, digests)).toThrow('0 lines like "- { name: model-gateway/worker')
})

test.each([
  [[], 'npm run publish-images'],
  [['https://registry.example.net/models', '1.2.3'], 'without a scheme'],
  [['registry.example.net/models', 'one two'], 'their tag'],
  [['registry.example.net/models', '1.2.3', 'no-such-overlay'], 'There is no '],
])('publish-images %j is refused', async (words, says) => {
  const command = path.join(import.meta.dirname, 'publish-command.ts')
  await expect(promisify(execFile)(process.execPath, [command, ...words])).rejects.toMatchObject({
    code: 64,
    stderr: expect.stringContaining(says),
  })
})
