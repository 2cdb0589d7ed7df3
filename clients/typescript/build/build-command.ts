// Builds the published client into its folder `dist`, from which `npm pack` and `npm publish` take it.
import path from 'node:path'
import { buildPackage } from './build-package.ts'

const folder = path.join(import.meta.dirname, '../dist')
await buildPackage(folder)
console.log(`Built ${path.relative(process.cwd(), folder)}.`)
