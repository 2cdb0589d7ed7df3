import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse, parseAllDocuments, stringify } from 'yaml'

const run = promisify(execFile)

export const projectFolder = path.resolve(import.meta.dirname, '../..')
export const overlays = ['local', 'production'] as const
export type Overlay = (typeof overlays)[number]

/** A rendered object of Kubernetes, as far as every one of them is alike. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  // oxlint-disable-next-line typescript/no-explicit-any -- each kind has its own; kubernetes-schema.ts checks them
  [field: string]: any
}

/** Whether this machine can render: kustomize is a part of kubectl, and openssl makes the keys of the local overlay. */
export function canRender(): Promise<boolean> {
  return Promise.all([run('kubectl', ['kustomize', '--help']), run('openssl', ['version'])]).then(
    () => true,
    () => false,
  )
}

/** What `kubectl apply --kustomize` would send. */
export async function renderOverlay(overlay: Overlay): Promise<Manifest[]> {
  return renderFolder(`overlays/${overlay}`)
}

/** Folder names of the components. */
export function componentNames(): Promise<string[]> {
  return readdir(path.join(projectFolder, 'deploy/kubernetes/components'))
}

/** The production overlay with these components and no others. */
export function renderProductionWith(components: readonly string[]): Promise<Manifest[]> {
  return renderFolder('overlays/production', async (copy) => {
    const file = path.join(copy, 'overlays/production/kustomization.yaml')
    const overlay = parse(await readFile(file, 'utf8')) as object
    const paths = components.map((name) => `../../components/${name}`)
    await writeFile(file, stringify({ ...overlay, components: paths }))
  })
}

/** The same of any folder below deploy/kubernetes. @param change what is changed in a copy before */
export async function renderFolder(
  folder: string,
  change: (copy: string) => Promise<void> = async () => {},
): Promise<Manifest[]> {
  const copy = await mkdtemp(path.join(tmpdir(), 'kubernetes-'))
  try {
    await cp(path.join(projectFolder, 'deploy/kubernetes'), copy, { recursive: true })
    await change(copy)
    if (folder === 'overlays/local') await run('sh', [path.join(copy, 'overlays/local/make-keys.sh')])
    const { stdout } = await run('kubectl', ['kustomize', path.join(copy, folder)], { maxBuffer: 32 * 1024 * 1024 })
    return parseAllDocuments(stdout).map((document) => inOneLine(document.toJS() as Manifest))
  } finally {
    await rm(copy, { recursive: true })
  }
}

/** Kustomize breaks long base64 texts into lines, which Kubernetes reads over and its schema doesn't know. */
function inOneLine(manifest: Manifest): Manifest {
  if (manifest.kind !== 'Secret') return manifest
  const data = Object.entries((manifest['data'] ?? {}) as Record<string, string>)
  return { ...manifest, data: Object.fromEntries(data.map(([name, text]) => [name, text.replaceAll(/\s/g, '')])) }
}
