import path from 'node:path'
import { images, writeImage, type ImageName } from './images.ts'

// npm run bundle-images -- <folder>
// Writes what each image holds to a folder of its name. For deploy/Dockerfile.

const [folder, ...more] = process.argv.slice(2)
if (folder === undefined || more.length > 0) {
  process.stderr.write('Say the folder to write to: npm run bundle-images -- <folder>\n')
  process.exit(64)
}
for (const name of Object.keys(images) as ImageName[]) await writeImage(name, path.resolve(folder, name))
