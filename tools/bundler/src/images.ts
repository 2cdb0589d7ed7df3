import { readFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { bundlePrograms, projectFolder, type BundledModule } from './bundle-programs.ts'

// What the images of deploy/Dockerfile hold: bundles of their programs in bin, and the files that these read, at their
// places in the project. Nothing is installed in an image.

interface Image {
  /** Sources of its programs by their names in bin. */
  programs: Record<string, string>
  /** Files and folders that its programs read. */
  files: string[]
}

const docs = 'services/gateway/src/docs'
const swagger = 'services/gateway/node_modules/swagger-ui-dist'

export const images = {
  gateway: {
    programs: { gateway: 'services/gateway/src/main.ts' },
    files: [
      'docs',
      ...['api.html', 'docs.css', 'docs.js', 'icon.svg', 'open.js'].map((name) => `${docs}/${name}`),
      ...['LICENSE', 'swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => `${swagger}/${name}`),
    ],
  },
  worker: { programs: { worker: 'services/worker/src/main.ts' }, files: [] },
  ledger: {
    programs: { ledger: 'services/ledger/src/main.ts', 'ledger-command': 'services/ledger/src/command.ts' },
    files: [],
  },
  console: {
    programs: { console: 'services/console/src/main.ts', 'console-command': 'services/console/src/command.ts' },
    files: ['packages/console-page/dist'],
  },
  migrate: {
    programs: {
      migrate: 'prisma/job/main.ts',
      'new-token': 'prisma/job/new-token-command.ts',
      seed: 'prisma/seed/seed-command.ts',
    },
    files: ['prisma/migrations', 'prisma/functions'],
  },
  provider: { programs: { provider: 'tools/simulated-provider/src/main.ts' }, files: [] },
} satisfies Record<string, Image>

export type ImageName = keyof typeof images

/** A package whose code is in an image. */
export interface BundledPackage {
  name: string
  version: string
  license: string
  bytes: number
}

/**
 * Writes everything that an image holds over its base, with a list of the packages in it (CycloneDX), since scanners
 * find none installed. The console's page must have been built.
 * @returns these packages, the largest first
 */
export async function writeImage(name: ImageName, folder: string): Promise<BundledPackage[]> {
  const { programs, files }: Image = images[name]
  for (const file of files)
    await cp(path.join(projectFolder, file), path.join(folder, file), { recursive: true, dereference: true })
  const modules = await bundlePrograms({
    programs,
    folder: path.join(folder, 'bin'),
    runIn: path.join(projectFolder, 'bin'),
  })
  const copied = files.map((file) => ({ file: path.join(projectFolder, file), bytes: 0 }))
  const packages = packagesOf([...modules, ...copied])
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await writeFile(path.join(folder, 'bom.cdx.json'), JSON.stringify(billOfMaterials(name, packages), null, 2))
  return packages
}

function packagesOf(modules: readonly BundledModule[]): BundledPackage[] {
  const found = new Map<string, BundledPackage>()
  for (const { file, bytes } of modules) {
    const [, place, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file) ?? []
    if (place === undefined || name === undefined) continue
    const { version, license } = JSON.parse(readFileSync(path.join(place, 'package.json'), 'utf8')) as BundledPackage
    const known = found.get(`${name}@${version}`)
    found.set(`${name}@${version}`, { name, version, license, bytes: bytes + (known?.bytes ?? 0) })
  }
  return [...found.values()].toSorted((one, other) => other.bytes - one.bytes)
}

function billOfMaterials(image: string, packages: readonly BundledPackage[]) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: image } },
    components: packages.map(({ name, version, license }) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      licenses: [{ expression: license }],
    })),
  }
}
