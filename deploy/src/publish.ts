import { images } from '@gateway/bundler/images'

/** The images of a real stack: all but the provider for trials. */
export const published = Object.keys(images).filter((name) => name !== 'provider')

export interface Release {
  /** Such as `registry.example.com/model-gateway`: the images are `gateway`, `worker` … below it. */
  registry: string
  version: string
  /** Commit that it is built from. */
  revision: string
}

/** Arguments with which Docker builds an image, pushes it, and writes its digest to a file. */
export function buildArguments(name: string, { registry, version, revision }: Release, metadataFile: string): string[] {
  const labels = { title: `model-gateway/${name}`, version, revision }
  const target = `--file deploy/Dockerfile --target ${name} --tag ${registry}/${name}:${version}`
  const marks = Object.entries(labels).flatMap(([label, value]) => [
    '--label',
    `org.opencontainers.image.${label}=${value}`,
  ])
  const output = ['--sbom=true', '--provenance=mode=max', '--push', '--metadata-file', metadataFile, '.']
  return ['buildx', 'build', ...target.split(' '), ...marks, ...output]
}

/**
 * The kustomization of an overlay with the images of a release, by their digests.
 * @throws Error if it does not name each image once, each on one line
 */
export function withRelease(
  kustomization: string,
  { registry, version }: Release,
  digests: ReadonlyMap<string, string>,
): string {
  let changed = kustomization
  for (const [name, digest] of digests) {
    const line = new RegExp(`^( *)- \\{ name: model-gateway/${name}, .*\\}$`, 'gm')
    const found = changed.match(line)?.length ?? 0
    if (found !== 1)
      throw new Error(
        `The overlay has ${found} lines like "- { name: model-gateway/${name}, newName: …, newTag: … }" under images, not one.`,
      )
    const values = `name: model-gateway/${name}, newName: ${registry}/${name}, newTag: ${version}, digest: '${digest}'`
    changed = changed.replace(line, `$1- { ${values} }`)
  }
  return changed
}
