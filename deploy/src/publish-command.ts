// npm run publish-images -- <registry> <version> [<overlay>]
// Builds every image of the stack, pushes it with its list of packages and its provenance, and writes its digest to the
// overlay. Needs Docker with buildx, signed in to the registry. Exit codes: 0 done, 1 failed, 64 usage error.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buildArguments, published, withRelease, type Release } from './publish.ts'
import { projectFolder } from './render.ts'

const USAGE = `npm run publish-images -- <registry> <version> [<overlay>]
  registry   where the images go, without a scheme, such as registry.example.com/model-gateway
  version    their tag, such as 1.2.0
  overlay    folder whose kustomization.yaml gets their digests, such as deploy/kubernetes/overlays/mine
`

const [registry = '', version = '', overlay, ...more] = process.argv.slice(2)
const kustomization = overlay === undefined ? null : path.resolve(overlay, 'kustomization.yaml')
const isWrong =
  !/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+$/.test(registry) || !/^\w[\w.-]{0,127}$/.test(version) || more.length > 0
const isMissing = kustomization !== null && !existsSync(kustomization)
if (isWrong || isMissing) {
  process.stderr.write(isMissing ? `There is no ${kustomization}.\n${USAGE}` : USAGE)
  process.exit(64)
}

const folder = mkdtempSync(path.join(tmpdir(), 'publish-'))
try {
  const release = { registry, version, revision: cleanRevision() }
  const before = kustomization === null ? null : readFileSync(kustomization, 'utf8')
  if (before !== null) withRelease(before, release, new Map(published.map((name) => [name, '']))) // it can take them
  const digests = new Map<string, string>()
  for (const name of published) digests.set(name, publish(name, release))
  if (kustomization !== null && before !== null) writeFileSync(kustomization, withRelease(before, release, digests))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The commit of this checkout. An overlay may have changed: that is what it is for. */
function cleanRevision(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: projectFolder, encoding: 'utf8' }).trim()
  const changes = git('status', '--porcelain', '--', '.', ':!deploy/kubernetes/overlays')
  if (changes !== '') throw new Error(`Commit first: an image names the commit that it was built from.\n${changes}`)
  return git('rev-parse', 'HEAD')
}

/** Returns the digest. */
function publish(name: string, release: Release): string {
  const metadata = path.join(folder, `${name}.json`)
  const built = spawnSync('docker', buildArguments(name, release, metadata), { cwd: projectFolder, stdio: 'inherit' })
  if (built.error) throw new Error(`Docker did not start: ${built.error.message}`)
  if (built.status !== 0) throw new Error(`The image of ${name} was not published.`)
  const digest = (JSON.parse(readFileSync(metadata, 'utf8')) as Record<string, unknown>)['containerimage.digest']
  if (typeof digest !== 'string') throw new Error(`Docker did not say the digest of ${name}.`)
  process.stdout.write(`${release.registry}/${name}:${release.version}@${digest}\n`)
  return digest
}
